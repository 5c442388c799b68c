package outputs

import (
	"errors"
	"os"
	"path/filepath"
	"time"

	"jcode/internal/tidy"
	"jcode/tools"
)

// Spills keep the whole text of results that were cut.
type Spills struct {
	dir   string
	stops func() error
}

// NewSpills returns the spills of a data folder. stops says why nothing is kept on the disk now; nil if it is.
func NewSpills(data string, stops func() error) Spills { return Spills{results(data), stops} }

func results(data string) string { return filepath.Join(data, "logs", "results") }

// Keep writes the whole text of a result to a file, for a week.
func (s Spills) Keep(call tools.Call, whole string) (string, error) {
	if err := s.stops(); err != nil {
		return "", err
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
