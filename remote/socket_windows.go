package remote

import (
	"fmt"
	"io/fs"
	"syscall"

	"golang.org/x/sys/windows"
)

// How a connection fails where nobody listens, and a socket on a system that has none of its kind.
const (
	connectionRefused = syscall.Errno(windows.WSAECONNREFUSED)
	noSuchSockets     = syscall.Errno(windows.WSAEAFNOSUPPORT)
)

// keepFromOthers takes the rights of others to a folder and what will be in it: this user and the system may do all,
// and nothing is inherited from the folder above.
func keepFromOthers(dir string, _ fs.FileInfo) error {
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return err
	}
	d, err := windows.SecurityDescriptorFromString(fmt.Sprintf("D:P(A;OICI;FA;;;%s)(A;OICI;FA;;;SY)", user.User.Sid))
	if err != nil {
		return err
	}
	list, _, err := d.DACL()
	if err != nil {
		return err
	}
	return windows.SetNamedSecurityInfo(dir, windows.SE_FILE_OBJECT, windows.DACL_SECURITY_INFORMATION|windows.PROTECTED_DACL_SECURITY_INFORMATION, nil, nil, list, nil)
}
