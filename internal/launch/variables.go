package launch

import (
	"slices"
	"strings"
)

// Reach says which commands get a variable that a program of others sets for them.
type Reach int

// The reaches, from the narrowest.
const (
	// Nowhere: it steers the loader, git, the shell itself, or where a program finds its owner's files.
	Nowhere Reach = iota
	// Confined: it can lead a program to code or to other settings, so only commands in the sandbox get it.
	Confined
	// Everywhere: it is data.
	Everywhere
)

// ReachOf returns which commands may get a variable of this name.
func ReachOf(name string) Reach {
	name = strings.ToUpper(name)
	switch {
	case hasAny(name, strings.HasPrefix, "LD_", "DYLD_", "GIT_", "BASH", "JCODE_", "CLAUDE_", "XDG_", "SSH_", "DBUS_", "GPG_", "SUDO_", "DOCKER_", "CONTAINER_", "MALLOC_", "LANDLOCK_"),
		slices.Contains([]string{
			"ENV", "SHELLOPTS", "PS1", "PS2", "PS4", "PROMPT_COMMAND", "IFS", "CDPATH", "SHELL", "HOME", "USER", "LOGNAME", "USERPROFILE", "PWD", "OLDPWD", "TMPDIR", "TEMP", "TMP",
			"GODEBUG", "GOTRACEBACK", "GOGC", "GOMEMLIMIT", "GOMAXPROCS", "GLIBC_TUNABLES", "GCONV_PATH", "LOCPATH", "NLSPATH", "COMSPEC", "PATHEXT", "SYSTEMROOT", "WINDIR",
			"DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "TMUX", "TERM", "TERMINFO", "TERMINFO_DIRS", "TERMCAP", "ZDOTDIR", "HISTFILE", "INPUTRC",
		}, name):
		return Nowhere
	case meansMore(name), leads(name), findsCode(name):
		return Confined
	}
	return Everywhere
}

// findsCode reports whether a variable, by its name, may lead a program to code, flags, other settings or
// another server. Names end in the same words for most programs.
func findsCode(name string) bool {
	return hasAny(name, strings.HasPrefix,
		"PYTHON", "PERL", "RUBY", "GEM_", "BUNDLE_", "NODE_", "NPM_", "YARN_", "PNPM_", "DENO_", "BUN_", "JAVA", "_JAVA", "JDK_", "MAVEN_", "GRADLE_", "CARGO_", "RUST",
		"GO", "CGO_", "PIP", "UV_", "POETRY_", "CONDA", "VIRTUAL_ENV", "COMPOSER_", "PHP", "LUA_", "MAKE", "CMAKE_", "NINJA", "LESS", "MAN", "CURL_", "WGET", "SSL_", "AWS_", "KUBE", "HELM_",
		"PROFILE", "EDITOR", "VISUAL", "BROWSER", "PAGER", "TAR", "ZIP", "GZIP", "RIPGREP_", "FZF_", "VIM", "EMACS", "SQLITE", "PG", "MYSQL") && name != "NODE_ENV" ||
		hasAny(name, strings.HasSuffix,
			"PATH", "_HOME", "_ROOT", "_DIR", "_LIB", "LIBS", "FLAGS", "_OPTIONS", "_OPTS", "OPT", "_ARGS", "_COMMAND", "_CMD", "_WRAPPER", "_EDITOR", "PAGER", "_CONFIG", "_RC", "_SHELL", "_PROXY",
			"_BUNDLE", "_CERT", "_FILE", "_PRELOAD", "_PLUGIN", "_PLUGINS", "_PROGRAM", "_EXEC", "_BIN", "_INIT", "_HOOK", "_HOOKS", "_REGISTRY", "_INDEX") ||
		slices.Contains([]string{"CC", "CXX", "CPP", "LD", "AR", "AS", "NM", "FC", "STRIP", "CONFIG_SITE"}, name)
}

func hasAny(name string, test func(s, part string) bool, parts ...string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return test(name, part) })
}
