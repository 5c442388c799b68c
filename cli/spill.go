package cli

import (
	"errors"
	"os"
	"path/filepath"
	"time"

	"jcode/internal/tidy"
	"jcode/tools"
)

// spills keep the whole text of results that were cut.
type spills struct {
	dir     string
	private func() bool // nothing is kept on the disk now
}

func newSpills(a *app) spills {
	return spills{filepath.Join(a.paths.Data, "logs", "results"), a.privateNow}
}

// keep writes the whole text of a result to a file, for a week.
func (s spills) keep(call tools.Call, whole string) (string, error) {
	if s.private() {
		return "", errPrivate
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return "", err
	}
	tidy.Folder(s.dir, tidy.Limits{Age: 7 * 24 * time.Hour, Bytes: 1 << 30})
	f, err := os.CreateTemp(s.dir, fileName(call.Name)+"-*.txt")
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(whole)
	return f.Name(), errors.Join(err, f.Close())
}

// fileName turns a tool's name into one that every file system accepts.
func fileName(tool string) string {
	name := []byte(tool[:min(len(tool), 80)])
	for i, b := range name {
		if b != '_' && (b < '0' || b > '9') && (b < 'A' || b > 'Z') && (b < 'a' || b > 'z') {
			name[i] = '-'
		}
	}
	return string(name)
}
