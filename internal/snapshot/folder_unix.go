//go:build unix && !(linux && (amd64 || arm64))

package snapshot

import (
	"os"

	"golang.org/x/sys/unix"
)

// reader reads folders one after the other; what it returns is good until the next.
type reader struct{ list []found }

// folder lists a folder in the order of the disk, beside what was in it. Each name costs one question: the folder is
// open, so the system need not find the way to it again. What has gone meanwhile is left out.
func (r *reader) folder(path string, was listing) ([]found, error) {
	d, err := os.OpenFile(path, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = d.Close() }() // only read
	names, err := d.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	fd := int(d.Fd()) //nolint:gosec // it is one
	r.list = r.list[:0]
	before := follower{was: was}
	for _, name := range names {
		var st unix.Stat_t
		if again(func() error { return unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) }) == nil {
			text, at := before.see([]byte(name))
			r.list = append(r.list, found{text, statusOf(&st), at})
		}
	}
	return r.list, nil
}
