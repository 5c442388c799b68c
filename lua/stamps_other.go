//go:build !linux && !darwin

package lua

import (
	"os"
	"path/filepath"
	"time"
)

// below looks files up by their path.
func below(_ *os.File, root string) lookUp {
	return func(name string) (time.Time, int64, bool) { return lookPath(filepath.Join(root, name)) }
}
