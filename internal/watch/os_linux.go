package watch

import "golang.org/x/sys/unix"

// systemMaxEntries is 0: inotify costs one watch per folder, whatever is in it.
const systemMaxEntries = 0

// noEvents reports whether path is on a file system on which changes from other machines, or from the host of
// a virtual one, produce no events.
func noEvents(path string) bool {
	var st unix.Statfs_t
	if unix.Statfs(path, &st) != nil {
		return false
	}
	const vboxsf = 0x786f4256
	switch uint32(st.Type) {
	case unix.NFS_SUPER_MAGIC, unix.SMB_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC,
		unix.FUSE_SUPER_MAGIC, unix.V9FS_MAGIC, unix.AFS_SUPER_MAGIC, unix.CODA_SUPER_MAGIC, vboxsf:
		return true
	}
	return false
}
