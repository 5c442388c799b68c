package mcp

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"jcode/internal/proc"
	"jcode/mcp/auth"
)

// resolved is a target with its variables expanded: what is really run.
type resolved struct {
	transport Transport
	program   string
	args      []string
	dir       string
	env       []string // the whole environment of the child
	url       string
	headers   map[string]string
	// oauth and helper are how a URL server is signed in to.
	oauth  auth.Settings
	helper []string
	// roots are the folders that the server is told of; ownRoots says that they replace those
	// of the workspace.
	roots    []string
	ownRoots bool
	// key is equal for targets that one connection can serve.
	key string
	// secrets are the values that must never be shown.
	secrets []string
}

// environment is where variables are looked up.
type environment struct {
	// base is jcode's own environment as os.Environ gives it.
	base []string
	// root is the project's root: relative programs and folders start there.
	root string
	home string
	// withheld names the variables that no server gets, whatever asks for them.
	withheld []string
}

// errWithheld explains why a variable is not passed on.
func errWithheld(name string) error {
	return permanentf("%s may hold a model provider's key, which no server gets: put the server's own key into another variable", name)
}

func (env environment) isWithheld(name string) bool { return slices.Contains(env.withheld, name) }

func (env environment) lookup(name string) (string, bool) {
	for _, kv := range env.base {
		if n, v, ok := strings.Cut(kv, "="); ok && n == name {
			return v, true
		}
	}
	return "", false
}

var variable = regexp.MustCompile(`\$\{([^{}]*)\}`)

// expand replaces `${VAR}`, `${VAR:-default}` and `${env:VAR}` in one pass.
func (env environment) expand(s string) (string, error) {
	var failed error
	out := variable.ReplaceAllStringFunc(s, func(m string) string {
		name, fallback, hasFallback := strings.Cut(m[2:len(m)-1], ":-")
		if rest, ok := strings.CutPrefix(name, "input:"); ok {
			failed = permanentf("${input:%s}: inputs are not supported; use an environment variable", rest)
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
		failed = permanentf("environment variable %s is not set", name)
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

// readVariables lists the variables that an expanded target would read, sorted.
func readVariables(t Target) []string {
	var names []string
	for _, s := range targetStrings(t) {
		for _, m := range variable.FindAllStringSubmatch(s, -1) {
			name, _, _ := strings.Cut(m[1], ":-")
			if name = strings.TrimPrefix(name, "env:"); isVariableName(name) {
				names = append(names, name)
			}
		}
	}
	names = append(names, t.InheritEnv...)
	if t.OAuth != nil && t.OAuth.ClientSecretEnv != "" {
		names = append(names, t.OAuth.ClientSecretEnv)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func targetStrings(t Target) []string {
	out := append([]string{t.Command, t.Cwd, t.URL}, slices.Concat(t.Args, t.Roots, t.HeadersHelper)...)
	if t.OAuth != nil {
		out = append(append(out, t.OAuth.ClientID, t.OAuth.ClientMetadataURL), t.OAuth.Scopes...)
	}
	for _, m := range []map[string]string{t.Env, t.Headers} {
		for _, v := range m {
			out = append(out, v)
		}
	}
	return out
}

// expands reports whether variables in a target from there are expanded. A person wrote or
// approved the files; what a model or a script passes is text, or it could read any variable.
func (s Scope) expands() bool {
	switch s {
	case ScopeRun, ScopeProject, ScopeUser:
		return true
	default:
		return false
	}
}

// resolve returns what an entry really runs. Its variables are expanded where its source
// allows that.
func (env environment) resolve(e Entry) (resolved, error) {
	t := e.Target
	out := resolved{transport: t.Type}
	var failed error
	get := func(s string) string {
		if !e.Source.Scope.expands() {
			return s
		}
		v, err := env.expand(s)
		if err != nil && failed == nil {
			failed = err
		}
		return v
	}
	switch t.Type {
	case Stdio:
		out.program = env.program(get(t.Command))
		for _, a := range t.Args {
			out.args = append(out.args, env.homeArgument(get(a)))
		}
		out.dir = env.folder(get(t.Cwd))
		set := map[string]string{}
		for k, v := range t.Env {
			set[k] = get(v)
			out.secrets = append(out.secrets, set[k])
		}
		out.env = proc.ServerEnv(env.base, t.InheritEnv, set)
		for _, name := range t.InheritEnv {
			if env.isWithheld(name) && failed == nil {
				failed = errWithheld(name)
			}
			if v, ok := env.lookup(name); ok {
				out.secrets = append(out.secrets, v)
			}
		}
		out.secrets = append(out.secrets, secretArgs(out.args)...)
		out.ownRoots = len(t.Roots) == 0 && out.namesFolder()
		slices.Sort(out.env)
		out.key = strings.Join(append(append([]string{"stdio", out.program, out.dir}, out.args...), append([]string{"\x00"}, out.env...)...), "\x00")
	default:
		out.url = get(t.URL)
		out.headers = map[string]string{}
		var keys []string
		for k, v := range t.Headers {
			out.headers[k] = get(v)
			out.secrets = append(out.secrets, out.headers[k])
			if _, rest, ok := strings.Cut(out.headers[k], " "); ok {
				out.secrets = append(out.secrets, rest)
			}
			keys = append(keys, k+"="+out.headers[k])
		}
		slices.Sort(keys)
		out.secrets = append(out.secrets, secretsOfURL(out.url)...)
		for _, word := range t.HeadersHelper {
			out.helper = append(out.helper, get(word))
		}
		if len(out.helper) > 0 {
			out.helper[0] = env.program(out.helper[0])
			out.dir = env.folder("")
			out.env = proc.ServerEnv(env.base, nil, nil)
		}
		var fault error
		if out.oauth, fault = env.settings(t.OAuth, get); fault != nil && failed == nil {
			failed = fault
		}
		if out.oauth.ClientSecret != "" {
			out.secrets = append(out.secrets, out.oauth.ClientSecret)
		}
		keys = append(keys, fmt.Sprintf("helper %q", out.helper), fmt.Sprintf("oauth %+v", out.oauth))
		out.key = strings.Join(append([]string{string(t.Type), out.url}, keys...), "\x00")
		if failed == nil {
			if err := checkURL(out.url); err != nil {
				failed = permanentf("%v", err)
			}
		}
	}
	switch {
	case len(t.Roots) == 1 && t.Roots[0] == RootsWorkspace, len(t.Roots) == 0:
	case len(t.Roots) == 1 && t.Roots[0] == RootsNone:
		out.ownRoots = true
	default:
		out.ownRoots = true
		for _, dir := range t.Roots {
			out.roots = append(out.roots, env.folder(get(dir)))
		}
	}
	out.key += fmt.Sprintf("\x00roots %v %q", out.ownRoots, out.roots)
	if failed == nil {
		for _, s := range append([]string{out.program, out.dir, out.url}, out.args...) {
			if strings.ContainsRune(s, 0) {
				failed = permanentf("the target holds a zero byte")
			}
		}
	}
	return out, failed
}

// program makes a relative program with a slash absolute; a bare name is left to PATH.
func (env environment) program(name string) string {
	name = env.homePath(name)
	if strings.ContainsRune(filepath.ToSlash(name), '/') && !filepath.IsAbs(name) && env.root != "" {
		return filepath.Join(env.root, name)
	}
	return name
}

func (env environment) folder(dir string) string {
	if dir == "" {
		return env.root
	}
	if dir = env.homePath(dir); !filepath.IsAbs(dir) && env.root != "" {
		return filepath.Join(env.root, dir)
	}
	return dir
}

// homeArgument expands a home folder in an argument, as a shell does: `~/notes`, and also
// the value of an option, `--dir=~/notes`.
func (env environment) homeArgument(arg string) string {
	if option, value, ok := strings.Cut(arg, "="); ok && strings.HasPrefix(arg, "-") {
		return option + "=" + env.homePath(value)
	}
	return env.homePath(arg)
}

// namesFolder reports whether an argument, or the value of an option, is an existing folder.
// Such a server was given folders of its own: it replaces them by those that it is told of.
func (r resolved) namesFolder() bool {
	return slices.ContainsFunc(r.args, func(arg string) bool {
		if strings.HasPrefix(arg, "-") {
			_, arg, _ = strings.Cut(arg, "=")
		}
		if arg == "" {
			return false
		}
		if !filepath.IsAbs(arg) {
			arg = filepath.Join(r.dir, arg)
		}
		info, err := os.Stat(arg)
		return err == nil && info.IsDir()
	})
}

func (env environment) homePath(p string) string {
	if p == "~" && env.home != "" {
		return env.home
	}
	if rest, ok := strings.CutPrefix(p, "~/"); ok && env.home != "" {
		return filepath.Join(env.home, rest)
	}
	return p
}

// programPath says where a target's program is found, for the approval.
func (env environment) programPath(t Target, from Scope) string {
	name := t.Command
	if from.expands() {
		var err error
		if name, err = env.expand(name); err != nil {
			return fmt.Sprintf("%s (%v)", t.Command, err)
		}
	}
	name = env.program(name)
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

// currentEnvironment is that of this process.
func currentEnvironment(root string) environment {
	home, err := os.UserHomeDir()
	if err != nil {
		home = ""
	}
	return environment{base: os.Environ(), root: root, home: home}
}
