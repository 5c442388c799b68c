package proc

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// reach is what ends with this process, see Reach; hasNamespaces says whether a child may have its own
// namespaces.
const (
	reach         = "processes of its group, and those that left it, by a mark in their environment"
	hasNamespaces = true
)

func attributes(spec Spec) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setsid: true, Setctty: spec.Terminal}
	if spec.DieWithParent {
		a.Pdeathsig = syscall.SIGKILL
	}
	if spec.Namespaces || spec.OwnNetwork {
		// The same user inside as outside, and capabilities that survive exec: they reach no further than the
		// namespaces.
		a.Cloneflags = syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS | syscall.CLONE_NEWIPC
		a.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}}
		a.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}}
		a.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN}
		if spec.OwnProcesses {
			a.Cloneflags |= syscall.CLONE_NEWPID
		}
		if spec.OwnNetwork {
			a.Cloneflags |= syscall.CLONE_NEWNET
		}
	}
	return a
}

// stat is what /proc/<pid>/stat says of one process.
type stat struct {
	pid, parent, group, session int
	state                       byte
	started                     uint64 // in ticks of the kernel's clock
}

// began is when this process started, 0 if that is not known. What it started is not older.
var began = sync.OnceValue(func() uint64 {
	s, _ := readStat(os.Getpid())
	return s.started
})

// running finds the members of the tree: same session, same group, a descendant of a member, or the tree's
// marker in the environment (a daemon that created its own session).
func (t tree) running() []Info {
	ended := t.p.reaped.Load()
	all := processes()
	// A process with the ID of a reaped leader is unrelated, and the leader's session and group are empty: the
	// kernel assigns no ID that is in use as either.
	reused := ended && slices.ContainsFunc(all, func(s stat) bool { return s.pid == t.p.pid })
	member := map[int]bool{}
	for _, s := range all {
		if (s.session == t.p.pid || s.group == t.p.pid) && !reused || s.started >= began() && hasMarker(s.pid, t.p.marker) {
			member[s.pid] = true
		}
	}
	for grew := true; grew; {
		grew = false
		for _, s := range all {
			if !member[s.pid] && member[s.parent] {
				member[s.pid], grew = true, true
			}
		}
	}
	var out []Info
	for _, s := range all {
		if member[s.pid] && s.state != 'Z' && s.state != 'X' {
			out = append(out, Info{Pid: s.pid, Command: commandLine(s.pid)})
		}
	}
	slices.SortFunc(out, func(a, b Info) int { return a.Pid - b.Pid })
	return out
}

// processes lists all processes except this one.
func processes() []stat {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer func() { _ = dir.Close() }() // read only
	names, err := dir.Readdirnames(-1)
	if err != nil && len(names) == 0 {
		return nil
	}
	self := os.Getpid()
	out := make([]stat, 0, len(names))
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil || pid == self {
			continue
		}
		if s, ok := readStat(pid); ok {
			out = append(out, s)
		}
	}
	return out
}

// readStat parses /proc/<pid>/stat. The command's name may contain spaces and parentheses, so the fields are
// counted from the last parenthesis.
func readStat(pid int) (stat, bool) {
	data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return stat{}, false
	}
	end := bytes.LastIndexByte(data, ')')
	if end < 0 {
		return stat{}, false
	}
	f := strings.Fields(string(data[end+1:]))
	if len(f) < 20 {
		return stat{}, false
	}
	s := stat{pid: pid, state: f[0][0]}
	var errs [4]error
	s.parent, errs[0] = strconv.Atoi(f[1])
	s.group, errs[1] = strconv.Atoi(f[2])
	s.session, errs[2] = strconv.Atoi(f[3])
	s.started, errs[3] = strconv.ParseUint(f[19], 10, 64)
	return s, errors.Join(errs[:]...) == nil
}

func hasMarker(pid int, marker string) bool {
	return bytes.Contains(environment(pid), []byte(markerName+"="+marker+"\x00"))
}

// environment returns the environment that a process began with, nil if it can't be read.
func environment(pid int) []byte {
	env, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "environ"))
	if err != nil {
		return nil
	}
	return env
}

// commandLine returns the arguments joined by spaces, or the kernel's name of a process
// without arguments.
func commandLine(pid int) string {
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	if line, err := os.ReadFile(filepath.Join(dir, "cmdline")); err == nil && len(line) > 0 {
		return strings.Join(strings.FieldsFunc(string(line), func(r rune) bool { return r == 0 }), " ")
	}
	name, err := os.ReadFile(filepath.Join(dir, "comm"))
	if err != nil {
		return "?"
	}
	return strings.TrimSpace(string(name))
}
