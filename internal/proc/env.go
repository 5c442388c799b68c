package proc

import (
	"maps"
	"os"
	"slices"
	"strings"

	"jcode/internal/secret"
	"jcode/internal/system"
)

// EnvRules adapt a child's environment.
type EnvRules struct {
	// Drop are additional names that must not pass, such as the key variables of configured
	// providers.
	Drop []string
	// Keep are names that pass although they look like secrets, because the person chose them.
	Keep []string
	// Set is applied last and overrides everything.
	Set map[string]string
}

// CommandEnv builds the environment of a shell command: the person's own without provider keys
// and other secrets, which are recognized by their name or value, and with everything set so that
// no pager, editor or password prompt can appear. base is in the form of os.Environ.
func CommandEnv(base []string, rules EnvRules) []string {
	env := map[string]string{}
	for _, kv := range base {
		name, value, ok := split(kv)
		if !ok || name == markerName || contains(rules.Drop, name) {
			continue
		}
		kept := contains(rules.Keep, name)
		if isProxy(name) && !kept {
			value = withoutPassword(value)
		}
		if secret.Variable(name, value) && !kept {
			continue
		}
		env[name] = value
	}
	// CDPATH would let `cd sub` lead out of the folder that the command names.
	for _, name := range []string{"SSH_ASKPASS", "SUDO_ASKPASS", "GIT_ASKPASS", "LESSOPEN", "LESSCLOSE", "CDPATH"} {
		delete(env, name)
	}
	maps.Copy(env, quiet())
	maps.Copy(env, rules.Set)
	return flatten(env)
}

// quiet are the variables that keep programs from prompting and colouring.
func quiet() map[string]string {
	return map[string]string{
		// git treats ":" as an editor that changes nothing, and does not even start it.
		"GIT_EDITOR":          ":",
		"GIT_SEQUENCE_EDITOR": ":",
		"EDITOR":              "true",
		"VISUAL":              "true",
		"GIT_PAGER":           "cat",
		"PAGER":               "cat",
		"MANPAGER":            "cat",
		"GH_PAGER":            "cat",
		"SYSTEMD_PAGER":       "cat",
		"BAT_PAGER":           "",
		"GIT_TERMINAL_PROMPT": "0",
		"GIT_OPTIONAL_LOCKS":  "0", // git status does not write the index
		"GCM_INTERACTIVE":     "never",
		"SSH_ASKPASS_REQUIRE": "never",
		"GH_PROMPT_DISABLED":  "1",
		"DEBIAN_FRONTEND":     "noninteractive",
		"PIP_NO_INPUT":        "1",
		"TERM":                "dumb",
		"NO_COLOR":            "1",
	}
}

// TerminalEnv returns the environment of a command for one that has a terminal: it may ask and draw, and leaves the
// histories of the person's shells and consoles alone. What the person set to something else stays.
func TerminalEnv(env []string) []string {
	quiet := quiet()
	out := slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, value, _ := strings.Cut(kv, "=")
		switch name {
		case "GIT_TERMINAL_PROMPT", "GCM_INTERACTIVE", "GH_PROMPT_DISABLED", "DEBIAN_FRONTEND", "PIP_NO_INPUT", "TERM", "NO_COLOR":
			return value == quiet[name]
		}
		return false
	})
	add := func(name, value string) {
		if !slices.ContainsFunc(out, func(kv string) bool { return strings.HasPrefix(kv, name+"=") }) {
			out = append(out, name+"="+value)
		}
	}
	add("TERM", "xterm-256color")
	for _, name := range []string{"HISTFILE", "PYTHON_HISTORY", "PSQL_HISTORY", "SQLITE_HISTORY", "MYSQL_HISTFILE"} {
		out = slices.DeleteFunc(out, func(kv string) bool { return strings.HasPrefix(kv, name+"=") })
		add(name, os.DevNull)
	}
	add("NODE_REPL_HISTORY", "")
	add("LESSHISTFILE", "-")
	return out
}

// ServerEnv builds the environment of a long-lived helper program such as an MCP server: a short
// allow list from base, the names in inherit, then set. Nothing else of base passes; names in
// inherit pass even if they hold secrets, because they were named.
func ServerEnv(base, inherit []string, set map[string]string) []string {
	env := map[string]string{}
	for _, kv := range base {
		name, value, ok := split(kv)
		switch {
		case !ok || name == markerName:
		case contains(inherit, name):
			env[name] = value
		case isProxy(name):
			env[name] = withoutPassword(value)
		case inAllowList(name):
			env[name] = value
		}
	}
	maps.Copy(env, set)
	return flatten(env)
}

// inAllowList reports whether a variable is one that a program needs to find its home, its tools
// and its language.
func inAllowList(name string) bool {
	n := name
	if system.FoldsVariables() {
		n = strings.ToUpper(n)
		switch n {
		case "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "TEMP", "TMP", "USERPROFILE", "USERNAME",
			"APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES", "PROGRAMFILES(X86)", "HOMEDRIVE", "HOMEPATH", "NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE":
			return true
		}
	}
	switch n {
	case "HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "LANG", "TMPDIR", "TZ":
		return true
	}
	return strings.HasPrefix(n, "LC_") || isCertificate(n)
}

// isProxy reports whether a variable names the proxy of a network, without which nothing can be
// downloaded. Programs disagree about upper and lower case.
func isProxy(name string) bool {
	switch strings.ToUpper(name) {
	case "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "FTP_PROXY", "WS_PROXY", "WSS_PROXY",
		"NPM_CONFIG_PROXY", "NPM_CONFIG_HTTPS_PROXY", "NPM_CONFIG_NOPROXY", "NODE_USE_ENV_PROXY":
		return true
	}
	return false
}

// isCertificate reports whether a variable names files of trusted certificates.
func isCertificate(name string) bool {
	switch strings.ToUpper(name) {
	case "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH",
		"AWS_CA_BUNDLE", "PIP_CERT", "DENO_CERT", "DENO_TLS_CA_STORE", "NPM_CONFIG_CAFILE", "UV_NATIVE_TLS", "UV_SYSTEM_CERTS", "CARGO_HTTP_CAINFO":
		return true
	}
	return false
}

// withoutPassword removes user and password from a proxy's address.
func withoutPassword(value string) string {
	scheme, rest, ok := strings.Cut(value, "://")
	if !ok {
		scheme, rest = "", value
	}
	host := rest
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		host = rest[:end]
	}
	at := strings.LastIndexByte(host, '@')
	if at < 0 {
		return value
	}
	if ok {
		scheme += "://"
	}
	return scheme + rest[at+1:]
}

// split splits NAME=value. Names that begin with "=", as on Windows, are left out.
func split(kv string) (name, value string, ok bool) {
	name, value, ok = strings.Cut(kv, "=")
	return name, value, ok && name != ""
}

func contains(names []string, name string) bool {
	if system.FoldsVariables() {
		return slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) })
	}
	return slices.Contains(names, name)
}

// flatten returns NAME=value lines in sorted order.
func flatten(env map[string]string) []string {
	out := make([]string, 0, len(env))
	for _, name := range slices.Sorted(maps.Keys(env)) {
		out = append(out, name+"="+env[name])
	}
	return out
}

// WithoutBash returns an environment in which bash reads no file first, and has no options but its own.
func WithoutBash(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return name == "BASH_ENV" || name == "SHELLOPTS" || name == "BASHOPTS"
	})
}
