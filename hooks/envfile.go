package hooks

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// EnvFile is the variable that names the file into which a SessionStart hook writes `export NAME=value` lines: variables for
// the session's later commands.
const EnvFile = "CLAUDE_ENV_FILE"

// The limits of such a file.
const (
	MaxEnvFile   = 256 << 10 // bytes
	maxVariables = 200
	maxValue     = 32 << 10 // bytes
)

// Variables reads such a file. Nothing of it runs: a value may refer to other variables (`$PATH`), which base
// has, but holds no command. refused says, by line, what is not a variable.
func Variables(data []byte, base []string) (vars, refused []string) {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(bytes.NewReader(data), "")
	if err != nil {
		return nil, []string{fmt.Sprintf("it can't be read: %v", err)}
	}
	known := slices.Clone(base)
	env := expand.FuncEnviron(func(name string) string { return lookUp(known, name) })
	refuse := func(node syntax.Node, why string) {
		refused = append(refused, fmt.Sprintf("line %d: %s", node.Pos().Line(), why))
	}
	set := func(a *syntax.Assign) {
		if a.Name == nil || a.Append || a.Index != nil || a.Array != nil {
			refuse(a, "only NAME=value sets a variable")
			return
		}
		name, value := a.Name.Value, ""
		if a.Naked {
			value = lookUp(known, name) // export of what was assigned before
		} else if a.Value != nil {
			if !isText(a.Value) {
				refuse(a, name+": a value may hold text and variables, no commands")
				return
			}
			if value, err = expand.Literal(&expand.Config{Env: env}, a.Value); err != nil {
				refuse(a, name+": a value may hold text and variables, no commands")
				return
			}
		}
		switch {
		case len(value) > maxValue:
			refuse(a, fmt.Sprintf("%s has more than %d KiB", name, maxValue>>10))
		case strings.IndexByte(value, 0) >= 0:
			refuse(a, name+" has a NUL byte")
		case len(vars) == maxVariables:
			refuse(a, fmt.Sprintf("%s: at most %d variables are set", name, maxVariables))
		default:
			known = append(known, name+"="+value)
			vars = append(without(vars, name), name+"="+value)
		}
	}
	for _, stmt := range file.Stmts {
		plain := len(stmt.Redirs) == 0 && !stmt.Negated && !stmt.Background && !stmt.Coprocess
		switch cmd := stmt.Cmd.(type) {
		case *syntax.CallExpr:
			if !plain || len(cmd.Args) > 0 {
				refuse(stmt, "commands are not run here: write export NAME=value")
				continue
			}
			for _, a := range cmd.Assigns {
				set(a)
			}
		case *syntax.DeclClause:
			if !plain || !slices.Contains([]string{"export", "declare", "typeset"}, cmd.Variant.Value) {
				refuse(stmt, "write export NAME=value")
				continue
			}
			for _, a := range cmd.Args {
				if a.Name == nil { // a flag: -x
					continue
				}
				set(a)
			}
		default:
			refuse(stmt, "commands are not run here: write export NAME=value")
		}
	}
	return vars, refused
}

// isText reports whether a word starts nothing.
func isText(word *syntax.Word) bool {
	ok := true
	syntax.Walk(word, func(node syntax.Node) bool {
		switch node.(type) {
		case *syntax.CmdSubst, *syntax.ProcSubst, *syntax.ArithmExp:
			ok = false
		}
		return ok
	})
	return ok
}

// lookUp returns the last value of a variable of an environment.
func lookUp(env []string, name string) (value string) {
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			value = v
		}
	}
	return value
}

// without returns an environment without a variable.
func without(env []string, name string) []string {
	return slices.DeleteFunc(env, func(kv string) bool { return strings.HasPrefix(kv, name+"=") })
}
