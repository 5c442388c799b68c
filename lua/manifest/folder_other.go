//go:build !linux && !darwin

package manifest

import (
	"os"
	"path/filepath"
	"time"
)

// below looks files up by their whole path.
func below(_ *os.File, root string) statFunc {
	return func(name string) (time.Time, int64, bool) { return statPath(filepath.Join(root, name)) }
}
