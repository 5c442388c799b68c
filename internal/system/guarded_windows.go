package system

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/windows"
)

func systemShell() []string { return nil }

// managedFolder asks the system: ProgramData in the environment is the user's to set.
func managedFolder() (string, error) {
	data, err := windows.KnownFolderPath(windows.FOLDERID_ProgramData, windows.KF_FLAG_DEFAULT)
	if err != nil {
		return "", fmt.Errorf("find the folder ProgramData: %w", err)
	}
	return filepath.Join(data, "jcode"), nil
}

// changing are the rights with which a file, its content or its permissions can be changed: to write or append (in a
// folder: add files and folders), write attributes, delete, delete inside, change permissions or the owner.
const changing = windows.FILE_WRITE_DATA | windows.FILE_APPEND_DATA | windows.FILE_WRITE_EA | windows.FILE_WRITE_ATTRIBUTES | windows.DELETE | fileDeleteChild |
	windows.WRITE_DAC | windows.WRITE_OWNER | windows.GENERIC_WRITE | windows.GENERIC_ALL

const (
	fileDeleteChild = 0x40
	inheritOnly     = 0x8
	accessAllowed   = 0
	accessDenied    = 1
	accessAllowedIf = 9 // under a condition, which is not read
)

// installer is the account that owns the files of the system itself.
const installer = "S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464"

func guarded(path string, _ int) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if info.Mode()&(os.ModeSymlink|os.ModeIrregular) != 0 {
		return errors.New("is a link: put the file itself there")
	}
	d, err := windows.GetNamedSecurityInfo(path, windows.SE_FILE_OBJECT, windows.OWNER_SECURITY_INFORMATION|windows.DACL_SECURITY_INFORMATION)
	if err != nil {
		return fmt.Errorf("its permissions can't be read: %w", err)
	}
	owner, _, err := d.Owner()
	if err != nil || owner == nil || !administers(owner) {
		return errors.New("must belong to the administrators (icacls /setowner Administrators)")
	}
	list, _, err := d.DACL()
	if err != nil {
		return fmt.Errorf("its permissions can't be read: %w", err)
	}
	if list == nil {
		return errors.New("can be changed by everyone (icacls)")
	}
	for i := range uint32(list.AceCount) {
		var ace *windows.ACCESS_ALLOWED_ACE
		if err := windows.GetAce(list, i, &ace); err != nil {
			return fmt.Errorf("its permissions can't be read: %w", err)
		}
		if ace.Header.AceFlags&inheritOnly != 0 || ace.Header.AceType == accessDenied {
			continue
		}
		if kind := ace.Header.AceType; kind != accessAllowed && kind != accessAllowedIf {
			return fmt.Errorf("has a permission of a kind that is not known here, %d (icacls)", kind)
		}
		if sid := (*windows.SID)(unsafe.Pointer(&ace.SidStart)); ace.Mask&changing != 0 && !administers(sid) {
			return fmt.Errorf("can be changed by %s (icacls /inheritance:r, then grant Users nothing but R)", sid)
		}
	}
	return nil
}

// administers reports whether an account may change the machine as it likes anyway.
func administers(sid *windows.SID) bool {
	return sid.IsWellKnown(windows.WinBuiltinAdministratorsSid) || sid.IsWellKnown(windows.WinLocalSystemSid) || sid.String() == installer
}
