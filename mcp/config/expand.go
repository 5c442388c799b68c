package config

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"jcode/internal/launch"
	"jcode/internal/pattern"
	"jcode/internal/proc"
	"jcode/mcp/auth"
)

// Resolved is a target with its variables expanded: what is really run.
type Resolved struct {
	Transport Transport
	Program   string
	Args      []string
	Dir       string
	Env       []string // the whole environment of the child
	URL       string
	Headers   map[string]string
	// OAuth and Helper are how a URL server is signed in to.
	OAuth  auth.Settings
	Helper []string
	// HelperName is the program of Helper as the entry names it.
	HelperName string
	// Roots are the folders that are announced to the server; OwnRoots says that they replace those
	// of the workspace.
	Roots    []string
	OwnRoots bool
	// Confine returns what to start instead of a program of the target; nil starts it as it is.
	Confine func(proc.Spec) (proc.Spec, error)
	// Key is equal for targets that one connection can serve.
	Key string
	// Secrets are the values that must never be shown.
	Secrets []string
}

// Confined returns what to start for a program of the target.
func (r Resolved) Confined(spec proc.Spec) (proc.Spec, error) {
	if r.Confine == nil {
		return spec, nil
	}
	return r.Confine(spec)
}

// Environment is where variables are looked up.
type Environment struct {
	// Base is jcode's own environment in the form of os.Environ.
	Base []string
	// Root is the project's root: relative programs and folders start there.
	Root string
	Home string
	// Programs finds the programs of entries that neither the project nor a plugin brought: those run unconfined, so
	// that a program of the workspace must not take their place.
	Programs launch.Programs
	// Withheld names the variables that no server gets, even if an entry asks for them.
	Withheld []string
	// Permit returns why a server may not run: the command line that starts it, otherwise its address. Nil permits all.
	Permit func(command []string, address string) error
}

// errWithheld explains why a variable is not passed on.
func errWithheld(name string) error {
	return faultf("%s may hold a model provider's key, which no server gets: put the server's own key into another variable", name)
}

func (env Environment) isWithheld(name string) bool { return slices.Contains(env.Withheld, name) }

func (env Environment) lookup(name string) (string, bool) {
	for _, kv := range env.Base {
		if n, v, ok := strings.Cut(kv, "="); ok && n == name {
			return v, true
		}
	}
	return "", false
}

var variable = pattern.Lazy(`\$\{([^{}]*)\}`)

// expand replaces `${VAR}`, `${VAR:-default}` and `${env:VAR}` in one pass.
func (env Environment) expand(s string) (string, error) {
	var failed error
	out := variable().ReplaceAllStringFunc(s, func(m string) string {
		name, fallback, hasFallback := strings.Cut(m[2:len(m)-1], ":-")
		if rest, ok := strings.CutPrefix(name, "input:"); ok {
			failed = faultf("${input:%s}: inputs are not supported; use an environment variable", rest)
			return m
		}
		name = strings.TrimPrefix(name, "env:")
		if !isVariableName(name) {
			return m
		}
		if env.isWithheld(name) {
			failed = errWithheld(name)
			return m
		}
		value, set := env.lookup(name)
		switch {
		case set && value != "":
			return value
		case hasFallback:
			return fallback
		case set:
			return ""
		}
		failed = faultf("environment variable %s is not set", name)
		return m
	})
	return out, failed
}

func isVariableName(s string) bool {
	for i, r := range s {
		if r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != ""
}

// Variables lists the variables that an expanded target would read, sorted.
func Variables(t Target) []string {
	var names []string
	for _, s := range targetStrings(t) {
		for _, m := range variable().FindAllStringSubmatch(s, -1) {
			name, _, _ := strings.Cut(m[1], ":-")
			if name = strings.TrimPrefix(name, "env:"); isVariableName(name) {
				names = append(names, name)
			}
		}
	}
	names = append(names, t.InheritEnv...)
	if t.OAuth != nil {
		names = slices.AppendSeq(names, maps.Values(t.OAuth.secrets()))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func targetStrings(t Target) []string {
	out := append([]string{t.Command, t.Cwd, t.URL}, slices.Concat(t.Args, t.Roots, t.HeadersHelper)...)
	if t.OAuth != nil {
		out = append(append(out, t.OAuth.ClientID, t.OAuth.ClientMetadataURL, t.OAuth.KeyID, t.OAuth.AssertionFile), t.OAuth.Scopes...)
		if p := t.OAuth.IDP; p != nil {
			out = append(out, p.Issuer, p.ClientID)
		}
	}
	return slices.AppendSeq(slices.AppendSeq(out, maps.Values(t.Env)), maps.Values(t.Headers))
}

// Expands reports whether variables in a target of this scope are expanded. A person wrote or approved the
// files; what a model or a script passes is plain text, or it could read any variable.
func (s Scope) Expands() bool { return s == ScopeRun || s == ScopeProject || s == ScopeUser }

// permitted returns why a target may not run, with its variables as get returns them.
func (env Environment) permitted(t Target, get func(string) string) error {
	switch {
	case env.Permit == nil:
		return nil
	case t.Type != Stdio:
		return env.Permit(nil, get(t.URL))
	}
	words := []string{get(t.Command)}
	for _, a := range t.Args {
		words = append(words, get(a))
	}
	return env.Permit(words, "")
}

// Resolve returns what an entry really runs. Its variables are expanded if its source allows that.
func (env Environment) Resolve(e Entry) (Resolved, error) {
	t := e.Target
	out := Resolved{Transport: t.Type}
	var failed error
	get := func(s string) string {
		if !e.Source.Scope.Expands() {
			return s
		}
		v, err := env.expand(s)
		failed = cmp.Or(failed, err)
		return v
	}
	if err := env.permitted(t, get); err != nil {
		return out, err
	}
	switch t.Type {
	case Stdio:
		out.Program = env.program(get(t.Command))
		if e.Own() {
			var fault error
			out.Program, fault = env.outside(out.Program)
			failed = cmp.Or(failed, fault)
		}
		for _, a := range t.Args {
			out.Args = append(out.Args, env.homeArgument(get(a)))
		}
		out.Dir = env.folder(get(t.Cwd))
		set := map[string]string{}
		for k, v := range t.Env {
			set[k] = get(v)
			out.Secrets = append(out.Secrets, set[k])
		}
		out.Env = proc.ServerEnv(env.Base, t.InheritEnv, set)
		if _, chosen := set["PATH"]; !chosen && e.Own() {
			out.Env = env.programs().WithPath(out.Env)
		}
		for _, name := range t.InheritEnv {
			if env.isWithheld(name) {
				failed = cmp.Or(failed, errWithheld(name))
			}
			if v, ok := env.lookup(name); ok {
				out.Secrets = append(out.Secrets, v)
			}
		}
		out.Secrets = append(out.Secrets, secretArgs(out.Args)...)
		out.OwnRoots = len(t.Roots) == 0 && out.namesFolder()
		slices.Sort(out.Env)
		out.Key = strings.Join(append(append([]string{"stdio", out.Program, out.Dir}, out.Args...), append([]string{"\x00"}, out.Env...)...), "\x00")
	case Line:
		out.Key = string(Line)
	case HTTP, SSE:
		out.URL = get(t.URL)
		out.Headers = map[string]string{}
		var keys []string
		for k, v := range t.Headers {
			out.Headers[k] = get(v)
			out.Secrets = append(out.Secrets, out.Headers[k])
			if _, rest, ok := strings.Cut(out.Headers[k], " "); ok {
				out.Secrets = append(out.Secrets, rest)
			}
			keys = append(keys, k+"="+out.Headers[k])
		}
		slices.Sort(keys)
		out.Secrets = append(out.Secrets, secretsOfURL(out.URL)...)
		for _, word := range t.HeadersHelper {
			out.Helper = append(out.Helper, get(word))
		}
		if len(out.Helper) > 0 {
			out.HelperName = out.Helper[0]
			out.Helper[0] = env.program(out.Helper[0])
			out.Dir = env.folder("")
			out.Env = proc.ServerEnv(env.Base, nil, nil)
			if e.Own() {
				var fault error
				out.Helper[0], fault = env.outside(out.Helper[0])
				failed, out.Env = cmp.Or(failed, fault), env.programs().WithPath(out.Env)
			}
		}
		var fault error
		out.OAuth, fault = env.settings(t.OAuth, get)
		failed = cmp.Or(failed, fault)
		out.Secrets = append(out.Secrets, out.OAuth.Secrets()...)
		keys = append(keys, fmt.Sprintf("helper %q", out.Helper), fmt.Sprintf("oauth %+v", out.OAuth))
		out.Key = strings.Join(append([]string{string(t.Type), out.URL}, keys...), "\x00")
		if failed == nil {
			if err := checkURL(out.URL); err != nil {
				failed = faultf("%v", err)
			}
		}
	}
	switch {
	case len(t.Roots) == 1 && t.Roots[0] == RootsWorkspace, len(t.Roots) == 0:
	case len(t.Roots) == 1 && t.Roots[0] == RootsNone:
		out.OwnRoots = true
	default:
		out.OwnRoots = true
		for _, dir := range t.Roots {
			out.Roots = append(out.Roots, env.folder(get(dir)))
		}
	}
	out.Key += fmt.Sprintf("\x00roots %v %q", out.OwnRoots, out.Roots)
	if failed == nil {
		for _, s := range append([]string{out.Program, out.Dir, out.URL}, out.Args...) {
			if strings.ContainsRune(s, 0) {
				failed = faultf("the target holds a zero byte")
			}
		}
	}
	return out, failed
}

// program makes a relative program with a slash absolute; a bare name is left to PATH.
func (env Environment) program(name string) string {
	name = env.homePath(name)
	if strings.ContainsRune(filepath.ToSlash(name), '/') && !filepath.IsAbs(name) && env.Root != "" {
		return filepath.Join(env.Root, name)
	}
	return name
}

// programs is Programs for what the person chose.
func (env Environment) programs() launch.Programs {
	p := env.Programs
	p.Temporary = true
	return p
}

// outside returns the path of a program that is not one of the workspace, or the name if there is none at all.
func (env Environment) outside(name string) (string, error) {
	if strings.ContainsRune(filepath.ToSlash(name), '/') || name == "" {
		return name, nil // somebody named its folder
	}
	path, err := env.programs().Find(name)
	switch {
	case launch.IsPassedOver(err):
		return name, faultf("%v, or write its whole path into the entry", err)
	case err != nil:
		return name, nil // the start says that there is none
	}
	return path, nil
}

func (env Environment) folder(dir string) string {
	if dir == "" {
		return env.Root
	}
	if dir = env.homePath(dir); !filepath.IsAbs(dir) && env.Root != "" {
		return filepath.Join(env.Root, dir)
	}
	return dir
}

// homeArgument expands a home folder in an argument, as a shell does: `~/notes`, and also
// the value of an option, `--dir=~/notes`.
func (env Environment) homeArgument(arg string) string {
	if option, value, ok := strings.Cut(arg, "="); ok && strings.HasPrefix(arg, "-") {
		return option + "=" + env.homePath(value)
	}
	return env.homePath(arg)
}

// namesFolder reports whether an argument, or the value of an option, is an existing folder.
// Such a server has folders of its own, which it would replace by announced ones.
func (r Resolved) namesFolder() bool {
	return slices.ContainsFunc(r.Args, func(arg string) bool {
		if strings.HasPrefix(arg, "-") {
			_, arg, _ = strings.Cut(arg, "=")
		}
		if arg == "" {
			return false
		}
		if !filepath.IsAbs(arg) {
			arg = filepath.Join(r.Dir, arg)
		}
		info, err := os.Stat(arg)
		return err == nil && info.IsDir()
	})
}

func (env Environment) homePath(p string) string {
	if p == "~" && env.Home != "" {
		return env.Home
	}
	if rest, ok := strings.CutPrefix(p, "~/"); ok && env.Home != "" {
		return filepath.Join(env.Home, rest)
	}
	return p
}

// ProgramPath returns where a target's program is found, for the approval.
func (env Environment) ProgramPath(e Entry) string {
	t, name := e.Target, e.Target.Command
	if e.Source.Scope.Expands() {
		var err error
		if name, err = env.expand(name); err != nil {
			return fmt.Sprintf("%s (%v)", t.Command, err)
		}
	}
	name = env.program(name)
	if e.Own() {
		var err error
		if name, err = env.outside(name); err != nil {
			return err.Error()
		}
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return name + " (not found)"
	}
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	if real, err := filepath.EvalSymlinks(path); err == nil && real != path {
		return path + " → " + real
	}
	return path
}

// ProcessEnvironment returns the environment of this process.
func ProcessEnvironment(root string) Environment {
	home, _ := os.UserHomeDir() // empty if it is unknown
	return Environment{Base: os.Environ(), Root: root, Home: home}
}
