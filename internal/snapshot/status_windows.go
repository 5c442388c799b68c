package snapshot

import (
	"io/fs"
	"os"
)

// lstat returns the status of a path.
func lstat(path string) (status, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return status{}, err
	}
	return statusOf(info), nil
}

// reader reads folders one after the other; what it returns is good until the next.
type reader struct{ list []found }

// folder lists a folder, beside what was in it. Its entries bring their status along. What has gone meanwhile is left out.
func (r *reader) folder(path string, was listing) ([]found, error) {
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	r.list = r.list[:0]
	before := follower{was: was}
	for _, d := range entries {
		if info, err := d.Info(); err == nil {
			name, at := before.see([]byte(d.Name()))
			r.list = append(r.list, found{name, statusOf(info), at})
		}
	}
	return r.list, nil
}

func statusOf(info fs.FileInfo) status {
	return status{mode: info.Mode(), stamp: stamp{size: info.Size(), modified: info.ModTime().UnixNano(), mode: uint32(info.Mode())}}
}
