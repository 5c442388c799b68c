//go:build linux || darwin

package atomicfile

import (
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// maxAttributes limits the names, and each value, of a file's extended attributes.
const maxAttributes = 64 << 10

// keepAttributes copies extended attributes, among them access lists and security labels, as
// far as the system has them and the process may.
func keepAttributes(to, from *os.File) {
	n, err := unix.Flistxattr(int(from.Fd()), nil)
	if err != nil || n == 0 || n > maxAttributes {
		return
	}
	names := make([]byte, n)
	if n, err = unix.Flistxattr(int(from.Fd()), names); err != nil {
		return
	}
	value := make([]byte, maxAttributes)
	for name := range strings.SplitSeq(strings.TrimSuffix(string(names[:n]), "\x00"), "\x00") {
		if size, err := unix.Fgetxattr(int(from.Fd()), name, value); err == nil {
			_ = unix.Fsetxattr(int(to.Fd()), name, value[:size], 0) // without the right to set it, the content is more important
		}
	}
}
