package launch

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"jcode/internal/paths"
	"jcode/internal/system"
)

// Outside returns the environment of a command that only reads, in which no variable points programs to code
// or settings of the workspace. PATH and other lists of folders lose the workspace's entries and relative
// ones, which depend on where a command runs; variables that hold code or flags, which could change what a
// command means, are removed.
func Outside(env, roots []string) []string {
	roots = append(slices.Clone(roots), resolved(roots)...)
	out := make([]string, 0, len(env))
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		switch {
		case meansMore(name):
			continue
		case name == "PATH":
			kv = "PATH=" + outsideList(value, roots)
		case leads(name):
			if value = outsideList(value, roots); value == "" {
				continue
			}
			kv = name + "=" + value
		}
		out = append(out, kv)
	}
	return out
}

// Clean returns an environment in which no variable names code or flags for a shell or a program, and the search path
// is that of the system.
func Clean(env []string) []string {
	path := system.ProgramPath()
	out := slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return leads(name) || meansMore(name) || name == "PATH" && path != ""
	})
	if path != "" {
		out = append(out, "PATH="+path)
	}
	return out
}

// outsideList returns a list of files and folders without those of the workspace.
func outsideList(value string, roots []string) string {
	return strings.Join(slices.DeleteFunc(filepath.SplitList(value), func(path string) bool {
		_, err := paths.Resolve(path)
		return !filepath.IsAbs(path) || err != nil || below(path, roots)
	}), string(os.PathListSeparator))
}

// leads reports whether a variable names files or folders from which programs load code, or settings that
// name some.
func leads(name string) bool {
	switch name {
	case "LD_LIBRARY_PATH", "LD_PRELOAD", "LD_AUDIT", "GCONV_PATH", "LOCPATH", "NLSPATH", "PERL5LIB", "PERLLIB", "PYTHONPATH", "PYTHONHOME", "RUBYLIB", "NODE_PATH", "CLASSPATH",
		"PHPRC", "PHP_INI_SCAN_DIR", "GCC_EXEC_PREFIX", "COMPILER_PATH", "MAGIC", "RIPGREP_CONFIG_PATH", "CURL_HOME", "WGETRC", "XDG_CONFIG_HOME", "GH_CONFIG_DIR",
		"GIT_EXEC_PATH", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM":
		return true
	}
	return strings.HasPrefix(name, "DYLD_")
}

// meansMore reports whether a variable holds code or flags for a shell or a program.
func meansMore(name string) bool {
	switch name {
	case "BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "PS4", "PERL5OPT", "PERL5DB", "PYTHONSTARTUP", "RUBYOPT", "NODE_OPTIONS", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "JDK_JAVAC_OPTIONS",
		"_JAVA_OPTIONS", "GREP_OPTIONS", "MAKEFLAGS", "GNUMAKEFLAGS", "MAKEFILES", "DENO_CONFIG":
		return true
	}
	return strings.HasPrefix(name, "BASH_FUNC_")
}

// resolved returns folders without links; those that can't be resolved are left out.
func resolved(list []string) []string {
	out := make([]string, 0, len(list))
	for _, p := range list {
		if real, err := paths.Resolve(p); err == nil {
			out = append(out, real)
		}
	}
	return out
}

func belowAny(path string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool { return paths.Within(dir, path) })
}
