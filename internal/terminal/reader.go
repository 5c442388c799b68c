package terminal

import (
	"path/filepath"
	"slices"
	"strings"

	"jcode/internal/proc"
)

// readerOf says what the members of the process group in the foreground are together. It is a shell at its prompt only if it is
// alone, is one of the system's own shells whose grammar is known, and was given no script.
func readerOf(group int, members []proc.Member) Reader {
	r := Reader{Group: group}
	for _, m := range members { // a member that waits for another one reads nothing
		if m.Program != "" && !slices.ContainsFunc(members, func(other proc.Member) bool { return other.Parent == m.Pid }) {
			r.Name = filepath.Base(m.Program)
		}
	}
	if len(members) != 1 || !interactiveShell(members[0]) {
		return r
	}
	r.Shell, r.Bash, r.Dir = true, r.Name == "bash", members[0].Dir
	return r
}

func interactiveShell(m proc.Member) bool {
	dir, name := filepath.Split(m.Program)
	if !slices.Contains([]string{"sh", "bash", "dash"}, name) || m.Dir == "" || len(m.Args) == 0 {
		return false
	}
	if !slices.ContainsFunc([]string{"/bin/", "/usr/", "/opt/", "/nix/store/"}, func(p string) bool { return strings.HasPrefix(dir, p) }) {
		return false
	}
	for _, arg := range m.Args[1:] {
		switch {
		case slices.Contains([]string{"--norc", "--noprofile", "--login", "--posix", "--noediting"}, arg):
		case strings.HasPrefix(arg, "--"), !strings.HasPrefix(arg, "-"), strings.ContainsAny(arg, "co"):
			return false // a script, or what can't be told
		}
	}
	return true
}
