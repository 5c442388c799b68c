package observe

import "golang.org/x/sys/unix"

// old records calls that newer machines lack.
func (w *watch) old(pid int, in info) {
	name := func(i int) string { return path(pid, unix.AT_FDCWD, in.args[i]) }
	switch in.nr {
	case unix.SYS_OPEN:
		w.events = append(w.events, opened(name(0), in.args[1]))
	case unix.SYS_CREAT:
		w.events = append(w.events, Event{Call: "open", Path: name(0), Write: true})
	case unix.SYS_UNLINK, unix.SYS_RMDIR, unix.SYS_MKDIR, unix.SYS_MKNOD, unix.SYS_RENAME, unix.SYS_CHMOD, unix.SYS_CHOWN, unix.SYS_LCHOWN, unix.SYS_UTIME, unix.SYS_UTIMES:
		w.events = append(w.events, Event{Call: "change", Path: name(0), Write: true})
	case unix.SYS_LINK, unix.SYS_SYMLINK:
		w.events = append(w.events, Event{Call: "change", Path: name(1), Write: true})
	}
}
