package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
)

// shield covers what must not be seen and locks what must not be changed, in this process's own mount
// namespace. Landlock then forbids undoing it. ownTerminals says whether the pseudo terminals are now its
// own.
func shield(o order) (ownTerminals bool, err error) {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return false, fmt.Errorf("detach mounts: %w", err)
	}
	if o.Processes {
		if err := ownProcesses(); err != nil {
			return false, err
		}
	}
	write := slices.Clone(o.Write)
	for _, part := range o.Open {
		if part.Write {
			write = append(write, part.Path)
		}
	}
	if err := lockAllBut(write); err != nil {
		return false, err
	}
	for _, path := range o.Hidden {
		if err := coverBut(path, o.Open); err != nil {
			return false, err
		}
	}
	// A mount point can't be renamed, so .git can't be moved aside for one with other hooks.
	for _, path := range o.Pinned {
		if err := bind(path, path); err != nil {
			return false, err
		}
	}
	for _, path := range o.Locked {
		if err := bind(path, path); err != nil {
			return false, err
		}
		if err := readOnly(path); err != nil {
			return false, err
		}
	}
	// Other processes' shared memory is off limits. If a private one is not possible, programs still need the
	// shared one.
	_ = unix.Mount("tmpfs", "/dev/shm", "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=1777")
	return terminals(), enterAgain()
}

// ownProcesses mounts a /proc that has only the processes of this namespace.
func ownProcesses() error {
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mount /proc: %w", err)
	}
	return nil
}

// lockAllBut makes everything read-only except some folders. Landlock has no rights for a file's mode, owner,
// times and attributes: on a read-only mount they can't be changed either.
func lockAllBut(folders []string) error {
	locked := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
	if err := unix.MountSetattr(unix.AT_FDCWD, "/", unix.AT_RECURSIVE, &locked); err != nil {
		return fmt.Errorf("mount read-only: %w", err)
	}
	open := unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY}
	for _, dir := range slices.Sorted(slices.Values(folders)) { // outer folders come first
		if err := bind(dir, dir); err != nil {
			return err
		}
		// What was mounted read-only before stays so, and then everything below must be skipped.
		if err := unix.MountSetattr(unix.AT_FDCWD, dir, unix.AT_RECURSIVE, &open); err == nil {
			continue
		}
		if err := unix.MountSetattr(unix.AT_FDCWD, dir, 0, &open); err != nil && !errors.Is(err, unix.EPERM) {
			return fmt.Errorf("mount %s writable: %w", dir, err)
		}
	}
	return nil
}

// terminals mounts a separate set of pseudo terminals for the command. Without it the command gets none.
func terminals() bool {
	if err := unix.Mount("devpts", "/dev/pts", "devpts", unix.MS_NOSUID|unix.MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620"); err != nil {
		return false
	}
	return bind("/dev/pts/ptmx", "/dev/ptmx") == nil
}

// enterAgain makes the working folder the mounted one: a folder that was entered before a mount over it, or
// over one above it, is the old one.
func enterAgain() error {
	dir, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("find working folder: %w", err)
	}
	if err := os.Chdir(dir); err != nil {
		return fmt.Errorf("enter working folder: %w", err)
	}
	return nil
}

// covers is how often it is tried to cover what other programs remove and make again meanwhile.
const covers = 10

// cover puts something empty over a file or folder. Other programs may remove it at any time, such as the socket of one
// that ends: then there is nothing to hide.
func cover(path string) (err error) {
	for range covers {
		info, serr := os.Stat(path)
		switch {
		case serr != nil:
			return nil // gone since the order was made
		case info.IsDir():
			if err = unix.Mount("tmpfs", path, "tmpfs", unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV, "mode=0555,size=4k"); err != nil {
				err = fmt.Errorf("hide %s: %w", path, err)
			}
		default:
			err = bind(os.DevNull, path)
		}
		if !errors.Is(err, unix.ENOENT) && !errors.Is(err, unix.ENOTDIR) { // it may also have become the other kind
			return err
		}
	}
	return err
}

// coverBut is cover, except that parts of a folder stay in their places.
func coverBut(path string, open []opening) error {
	type kept struct {
		path string
		file *os.File
		dir  bool
	}
	var parts []kept
	defer func() {
		for _, k := range parts {
			_ = k.file.Close() // only a handle
		}
	}()
	for _, part := range open {
		info, err := os.Stat(part.Path)
		if err != nil || !holds(path, []string{part.Path}) {
			continue
		}
		if part.Path == path {
			return nil
		}
		fd, err := unix.Open(part.Path, unix.O_PATH|unix.O_CLOEXEC, 0)
		if errors.Is(err, unix.ENOENT) {
			continue // gone since
		}
		if err != nil {
			return fmt.Errorf("keep %s: %w", part.Path, err)
		}
		parts = append(parts, kept{part.Path, os.NewFile(uintptr(fd), part.Path), info.IsDir()})
	}
	if len(parts) == 0 {
		return cover(path)
	}
	if err := unix.Mount("tmpfs", path, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=0755,size=1m"); err != nil {
		return fmt.Errorf("hide %s: %w", path, err)
	}
	for _, k := range parts {
		if err := place(k.path, k.dir); err != nil {
			return fmt.Errorf("keep %s: %w", k.path, err)
		}
		if err := bind(fmt.Sprintf("/proc/self/fd/%d", k.file.Fd()), k.path); err != nil {
			return err
		}
	}
	locked := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
	if err := unix.MountSetattr(unix.AT_FDCWD, path, 0, &locked); err != nil {
		return fmt.Errorf("hide %s: %w", path, err)
	}
	return nil
}

// place makes an empty file or folder, for a mount.
func place(path string, dir bool) error {
	if dir {
		return os.MkdirAll(path, 0o755)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o444)
	if err != nil {
		return err
	}
	return f.Close()
}

func bind(from, to string) error {
	if err := unix.Mount(from, to, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("lock %s: %w", to, err)
	}
	return nil
}

// readOnly locks a mount. A user namespace must not clear flags that were set before.
func readOnly(path string) error {
	var st unix.Statfs_t
	if err := unix.Statfs(path, &st); err != nil {
		return fmt.Errorf("lock %s: %w", path, err)
	}
	flags := uintptr(unix.MS_BIND | unix.MS_REMOUNT | unix.MS_RDONLY)
	for _, f := range []struct{ have, keep uintptr }{
		{unix.ST_NOSUID, unix.MS_NOSUID},
		{unix.ST_NODEV, unix.MS_NODEV},
		{unix.ST_NOEXEC, unix.MS_NOEXEC},
		{unix.ST_NOATIME, unix.MS_NOATIME},
		{unix.ST_NODIRATIME, unix.MS_NODIRATIME},
		{unix.ST_RELATIME, unix.MS_RELATIME},
	} {
		if uintptr(st.Flags)&f.have != 0 {
			flags |= f.keep
		}
	}
	if err := unix.Mount("", path, "", flags, ""); err != nil {
		return fmt.Errorf("lock %s: %w", path, err)
	}
	return nil
}

// loopbackUp brings up the loopback of a private network, so that programs can talk to themselves.
func loopbackUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("set up loopback: %w", err)
	}
	defer func() { _ = unix.Close(fd) }() // only a handle
	req, err := unix.NewIfreq("lo")
	if err != nil {
		return fmt.Errorf("set up loopback: %w", err)
	}
	req.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, req); err != nil {
		return fmt.Errorf("set up loopback: %w", err)
	}
	return nil
}

// tryNamespaces does on a small scale what shield and loopbackUp do. It creates no folder: under the mounts
// it could not be removed any more.
func tryNamespaces() error {
	dir := os.TempDir()
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("detach mounts: %w", err)
	}
	if os.Getpid() == 1 {
		if err := ownProcesses(); err != nil {
			return err
		}
	}
	if err := lockAllBut([]string{dir}); err != nil {
		return err
	}
	if err := readOnly(dir); err != nil {
		return err
	}
	return loopbackUp()
}
