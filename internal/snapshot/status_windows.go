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

// readFolder lists a folder. Its entries bring their status along. What has gone meanwhile is left out.
func readFolder(path string) ([]named[status], error) {
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	list := make([]named[status], 0, len(entries))
	for _, d := range entries {
		if info, err := d.Info(); err == nil {
			list = append(list, named[status]{d.Name(), statusOf(info)})
		}
	}
	return list, nil
}

func statusOf(info fs.FileInfo) status {
	return status{mode: info.Mode(), stamp: stamp{size: info.Size(), modified: info.ModTime().UnixNano(), mode: uint32(info.Mode())}}
}
