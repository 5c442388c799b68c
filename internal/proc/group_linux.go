package proc

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Group lists the members of a process group that run. What can't be seen of one is empty.
func Group(id int) (out []Member) {
	own, _ := os.Executable()
	for _, s := range processes() {
		if s.group != id || s.state == 'Z' || s.state == 'X' {
			continue
		}
		dir := filepath.Join("/proc", strconv.Itoa(s.pid))
		m := Member{Pid: s.pid, Parent: s.parent}
		m.Program, _ = os.Readlink(filepath.Join(dir, "exe"))
		m.Dir, _ = os.Readlink(filepath.Join(dir, "cwd"))
		if line, err := os.ReadFile(filepath.Join(dir, "cmdline")); err == nil && len(line) > 0 {
			m.Args = strings.Split(strings.TrimSuffix(string(line), "\x00"), "\x00")
		}
		if m.Program != "" && m.Program == own {
			continue // the init of a command in the sandbox reads nothing
		}
		out = append(out, m)
	}
	return out
}
