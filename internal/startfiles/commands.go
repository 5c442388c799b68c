package startfiles

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// shell examines a shell line or script: what its commands execute. ok is false if it can't be parsed.
func (s *search) shell(text, dir, script string, depth int) (ok bool) {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		return false
	}
	vars := map[string]string{"CLAUDE_PROJECT_DIR": s.root, "JCODE_PROJECT_DIR": s.root, "PWD": dir, "0": script, "BASH_SOURCE": script}
	syntax.Walk(file, func(node syntax.Node) bool {
		switch n := node.(type) {
		case *syntax.Assign:
			if n.Name != nil && n.Value != nil {
				if value, known := expanded(n.Value, vars); known {
					vars[n.Name.Value] = value
				}
			}
		case *syntax.Stmt:
			if call, is := n.Cmd.(*syntax.CallExpr); is {
				var input []string
				for _, r := range n.Redirs {
					if r.Op == syntax.RdrIn && r.Word != nil {
						if value, known := expanded(r.Word, vars); known {
							input = append(input, value)
						}
					}
				}
				for _, a := range call.Assigns { // they hold before the words are expanded
					if a.Name != nil && a.Value != nil {
						if value, known := expanded(a.Value, vars); known {
							vars[a.Name.Value] = value
						}
					}
				}
				s.call(call.Args, input, vars, dir, depth)
			}
		}
		return true
	})
	return true
}

// expanded returns the text of a word; known is false if it depends on what only a shell knows: then it is the
// part that is known.
func expanded(w *syntax.Word, vars map[string]string) (text string, known bool) {
	var b strings.Builder
	known = true
	var parts func(list []syntax.WordPart)
	parts = func(list []syntax.WordPart) {
		for _, p := range list {
			switch p := p.(type) {
			case *syntax.Lit:
				b.WriteString(unescaped(p.Value))
			case *syntax.SglQuoted:
				b.WriteString(p.Value)
			case *syntax.DblQuoted:
				parts(p.Parts)
			case *syntax.ParamExp:
				value, has := vars[p.Param.Value]
				if p.Exp != nil && strings.HasPrefix(p.Param.Value, "BASH_SOURCE") || p.Exp != nil && p.Param.Value == "0" {
					value = filepath.Dir(value) // ${0%/*}
				}
				known = known && has
				b.WriteString(value)
			case *syntax.CmdSubst:
				value, has := dirname(p, vars)
				known = known && has
				b.WriteString(value)
			default:
				known = false
			}
		}
	}
	parts(w.Parts)
	return b.String(), known
}

// dirname evaluates $(dirname "$0") and $(cd "$(dirname "$0")" && pwd), the usual ways to find a script's folder.
func dirname(c *syntax.CmdSubst, vars map[string]string) (string, bool) {
	if len(c.Stmts) != 1 {
		return "", false
	}
	cmd := c.Stmts[0].Cmd
	if both, ok := cmd.(*syntax.BinaryCmd); ok {
		cmd = both.X.Cmd
	}
	call, ok := cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) < 2 {
		return "", false
	}
	name, _ := expanded(call.Args[0], vars)
	arg, known := expanded(call.Args[len(call.Args)-1], vars)
	switch {
	case !known:
		return "", false
	case name == "dirname":
		return filepath.Dir(arg), true
	case name == "cd", name == "realpath", name == "readlink":
		return arg, true
	}
	return "", false
}

func unescaped(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// call examines one command: input are the files that it reads from.
func (s *search) call(args []*syntax.Word, input []string, vars map[string]string, dir string, depth int) {
	var words []string
	for _, a := range args {
		text, known := expanded(a, vars)
		if !known { // the parts that are known
			for _, part := range split(text) {
				s.word(part, dir, max(depth, 1))
			}
		}
		words = append(words, text)
	}
	s.command(words, input, dir, depth)
}

// command examines the words of one command.
func (s *search) command(words, input []string, dir string, depth int) {
	words = unwrapped(words)
	if len(words) == 0 {
		return
	}
	program := strings.TrimSuffix(filepath.Base(words[0]), ".exe")
	s.word(words[0], dir, depth)
	if depth == 0 && !strings.ContainsRune(words[0], filepath.Separator) {
		if found, err := exec.LookPath(words[0]); err == nil { // of an active environment, say
			s.file(found, depth, false)
		}
	}
	rest := words[1:]
	for _, name := range runners(program) {
		s.file(filepath.Join(dir, name), depth, true)
	}
	switch {
	case runs(program): // any word may name what is run
		for _, w := range rest {
			s.operand(w, dir, depth)
		}
		s.sources(program, rest, dir)
	case interprets(program), program == ".", program == "source":
		s.interpreter(program, rest, dir, depth)
		for _, name := range input {
			s.word(name, dir, depth)
		}
	case program == "eval":
		s.line(strings.Join(rest, " "), dir, "", depth+1)
	default:
		for _, w := range rest {
			if !strings.ContainsRune(words[0], filepath.Separator) && !data(program) && executable(dir, w) {
				s.word(w, dir, depth)
			}
		}
	}
}

// interpreter examines the words after an interpreter: its flags and the script; what follows is the script's.
func (s *search) interpreter(program string, words []string, dir string, depth int) {
	for i, w := range words {
		switch {
		case (w == "-c" || w == "-e" || w == "--eval" || w == "-p" || strings.HasSuffix(w, "c") && strings.HasPrefix(w, "-") && len(w) < 5 && isShell(program)) && i+1 < len(words):
			s.line(words[i+1], dir, "", depth+1)
			return
		case w == "-m" && i+1 < len(words):
			s.word(words[i+1], dir, depth)
			return
		}
		s.operand(w, dir, depth)
		if !strings.HasPrefix(w, "-") && exists(dir, w) {
			return
		}
	}
}

// operand examines a word that may name what is run: a file, a folder, a flag's value.
func (s *search) operand(w, dir string, depth int) {
	if _, value, ok := strings.Cut(w, "="); ok && strings.HasPrefix(w, "-") {
		w = value
	}
	s.word(w, dir, depth)
	if depth == 0 && (w == "." || w == "./") {
		for _, name := range []string{"package.json", "index.js", "__main__.py"} {
			s.file(filepath.Join(dir, name), depth, true)
		}
	}
}

// sources adds what a compiler that also runs reads without a name.
func (s *search) sources(program string, words []string, dir string) {
	switch {
	case program == "cargo":
		s.folder(filepath.Join(dir, "src"))
	case program == "go" && slices.Contains(words, "."):
		entries, err := os.ReadDir(dir)
		if err != nil {
			return // nothing to run
		}
		for _, e := range entries {
			if strings.HasSuffix(e.Name(), ".go") {
				s.file(filepath.Join(dir, e.Name()), 0, true)
			}
		}
	}
}

// unwrapped removes the commands that run another one, and the variables before it.
func unwrapped(words []string) []string {
	for len(words) > 0 {
		switch program := filepath.Base(words[0]); {
		case strings.Contains(words[0], "=") && !strings.Contains(strings.SplitN(words[0], "=", 2)[0], "/"):
			words = words[1:]
		case slices.Contains([]string{"env", "sudo", "doas", "nice", "ionice", "nohup", "time", "timeout", "exec", "command", "builtin", "xargs", "stdbuf", "setsid", "caffeinate", "!"}, program):
			words = words[1:]
			for len(words) > 0 && (strings.HasPrefix(words[0], "-") || program == "timeout" && strings.Trim(words[0], "0123456789.smhd") == "" || program == "nice" && strings.Trim(words[0], "0123456789") == "") {
				words = words[1:]
			}
		default:
			return words
		}
	}
	return nil
}

// isShell reports whether a program is a POSIX shell.
func isShell(program string) bool {
	switch program {
	case "sh", "bash", "zsh", "dash", "ksh", "ash", "fish":
		return true
	}
	return false
}

// interprets reports whether a program runs the script that its first operand names.
func interprets(program string) bool {
	if isShell(program) {
		return true
	}
	switch strings.TrimRight(program, "0123456789.") {
	case "python", "pypy", "node", "nodejs", "ruby", "perl", "php", "lua", "luajit", "tsx", "ts-node", "Rscript", "julia", "pwsh", "osascript", "expect", "tclsh", "guile", "racket", "elixir", "groovy", "scala", "swift":
		return true
	}
	return false
}

// runs reports whether any word of a program's may name what it runs.
func runs(program string) bool {
	switch program {
	case "go", "cargo", "deno", "bun", "bunx", "npx", "npm", "pnpm", "yarn", "uv", "uvx", "pipx", "poetry", "hatch", "pdm", "rye", "make", "gmake", "just", "task", "rake", "tox", "nox", "java", "dotnet",
		"docker", "docker-compose", "podman", "mvn", "gradle", "nodemon", "pm2", "concurrently", "dotenv", "watchexec", "entr":
		return true
	}
	return false
}

// data reports whether the words of a program never name what is run.
func data(program string) bool {
	switch program {
	case "cat", "tac", "tee", "wc", "head", "tail", "grep", "egrep", "fgrep", "rg", "sed", "cut", "sort", "uniq", "tr", "jq", "yq", "echo", "printf", "test", "[", "[[", "ls", "stat", "file", "touch", "mkdir", "rm", "cp", "mv", "ln", "chmod",
		"diff", "cmp", "sha256sum", "md5sum", "basename", "dirname", "realpath", "readlink", "git", "date", "gofmt", "curl", "wget", "read", "cd", "export", "set", "true", "false", "exit", "kill", "sleep":
		return true
	}
	return false
}

// exists reports whether a word names a file or folder.
func exists(dir, word string) bool {
	_, err := os.Stat(within(dir, word))
	return err == nil
}

// executable reports whether a word names a file that may be executed.
func executable(dir, word string) bool {
	info, err := os.Stat(within(dir, word))
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

func within(dir, word string) string {
	if path := filepath.FromSlash(word); filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, filepath.FromSlash(word))
}
