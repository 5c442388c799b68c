package sandbox

import (
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"jcode/internal/proc"

	llsys "github.com/landlock-lsm/go-landlock/landlock/syscall"
)

const (
	rightsToRead = llsys.AccessFSReadFile | llsys.AccessFSReadDir
	rightsOfFile = llsys.AccessFSExecute | llsys.AccessFSWriteFile | llsys.AccessFSReadFile | llsys.AccessFSTruncate
)

// handled are the rights over files that a version of Landlock knows: all of them are restricted.
func handled(abi int) uint64 {
	rights := uint64(llsys.AccessFSMakeSym<<1 - 1)
	for _, since := range []struct {
		abi   int
		right uint64
	}{{2, llsys.AccessFSRefer}, {3, llsys.AccessFSTruncate}, {5, llsys.AccessFSIoctlDev}, {landlockSockets, llsys.AccessFSResolveUnix}} {
		if abi >= since.abi {
			rights |= since.right
		}
	}
	return rights
}

// canRead reports whether this kernel can confine a single thread to reading. It tries it with a shell:
// containers may forbid what the kernel could do.
func canRead() (ok bool, why string) {
	if Kernel() < 1 {
		return false, "the kernel has no Landlock, or it is switched off"
	}
	if !filtersCalls() {
		return false, "system calls can't be filtered on this machine"
	}
	temp, err := os.MkdirTemp("", "jcode-read-")
	if err != nil {
		return false, err.Error()
	}
	defer func() { _ = os.RemoveAll(temp) }() // empty
	env := []string{"PATH=" + os.Getenv("PATH")}
	rules, err := newRules(Policy{}.reading(Reading{}, env, temp))
	if err != nil {
		return false, err.Error()
	}
	defer rules.release()
	p, err := proc.Start(proc.Spec{Argv: []string{"/bin/sh", "-c", ":"}, Env: env, Confine: rules.enter})
	if err != nil {
		return false, err.Error()
	}
	select {
	case <-p.Done():
	case <-time.After(5 * time.Second):
		return false, errors.Join(errors.New("a confined shell does not end"), p.Kill()).Error()
	}
	if end := p.Exit(); end.Code != 0 {
		return false, fmt.Sprintf("a confined shell does not run (exit code %d)", end.Code)
	}
	return true, ""
}

func closeRules(fd int) { _ = unix.Close(fd) } // our own descriptor

// enterReading drops from the calling thread, and from what it starts, every right that is not needed for
// reading.
func enterReading(fd int) error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	if err := dropAllCapabilities(); err != nil {
		return err
	}
	if err := llsys.LandlockRestrictSelf(fd, 0); err != nil {
		return err
	}
	return filterCalls()
}

// dropAllCapabilities keeps only the capability with which root reads other users' files; Landlock restricts
// it as well.
func dropAllCapabilities() error {
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil && !errors.Is(err, unix.EINVAL) {
		return err
	}
	drop := func(c uintptr) error {
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err != nil && !errors.Is(err, unix.EPERM) && !errors.Is(err, unix.EINVAL) {
			return err
		}
		return nil
	}
	for c := uintptr(0); c < 64; c++ {
		if c == unix.CAP_DAC_OVERRIDE || c == unix.CAP_SETPCAP {
			continue
		}
		if err := drop(c); err != nil {
			return err
		}
	}
	return drop(unix.CAP_SETPCAP) // the right to do this goes last
}

// ruleset builds the set of Landlock rules.
func ruleset(r readable) (fd int, err error) {
	abi := Kernel()
	attr := llsys.RulesetAttr{HandledAccessFS: handled(abi)}
	if abi >= 4 {
		attr.HandledAccessNet = llsys.AccessNetBindTCP | llsys.AccessNetConnectTCP
	}
	if abi >= 6 {
		attr.Scoped = llsys.ScopeAbstractUnixSocket | llsys.ScopeSignal
	}
	if fd, err = llsys.LandlockCreateRuleset(&attr, 0); err != nil {
		return -1, err
	}
	var errs []error
	allow := func(path string, dir bool, rights uint64) {
		if rights &= attr.HandledAccessFS; !dir {
			rights &= rightsOfFile | llsys.AccessFSIoctlDev
		}
		if err := addRule(fd, path, rights); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", path, err))
		}
	}
	for _, path := range r.run {
		except(path, r.hidden, func(path string, dir bool) { allow(path, dir, rightsToRead|llsys.AccessFSExecute) })
	}
	for _, path := range r.read {
		except(path, r.hidden, func(path string, dir bool) { allow(path, dir, rightsToRead) })
	}
	allow("/dev/null", false, llsys.AccessFSReadFile|llsys.AccessFSWriteFile|llsys.AccessFSTruncate)
	allow(r.temp, true, attr.HandledAccessFS&^(llsys.AccessFSExecute|llsys.AccessFSIoctlDev|llsys.AccessFSResolveUnix|llsys.AccessFSMakeChar|llsys.AccessFSMakeBlock))
	if err := errors.Join(errs...); err != nil {
		return -1, errors.Join(err, unix.Close(fd))
	}
	return fd, nil
}

// addRule grants rights to a file or to everything below a folder. A path that no longer exists needs none.
func addRule(ruleset int, path string, rights uint64) error {
	file, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0)
	switch {
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.EACCES), errors.Is(err, unix.ENOTDIR):
		return nil
	case err != nil:
		return err
	}
	defer func() { _ = unix.Close(file) }() // only a handle
	var st unix.Stat_t
	if err := unix.Fstat(file, &st); err != nil {
		return err
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
	case unix.S_IFLNK, unix.S_IFSOCK:
		return nil
	default:
		rights &= rightsOfFile | llsys.AccessFSIoctlDev
	}
	if rights == 0 {
		return nil
	}
	return llsys.LandlockAddPathBeneathRule(ruleset, &llsys.PathBeneathAttr{AllowedAccess: rights, ParentFd: file}, 0)
}
