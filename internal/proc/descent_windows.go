package proc

import (
	"errors"
	"os"
	"time"
	"unicode/utf16"
	"unsafe"

	"golang.org/x/sys/windows"
)

// Descends reports whether a jcode started a process, directly or not: this process is among its ancestors, or it or one
// of them has the mark that every child of a jcode gets in its environment. A process whose parent has ended has no
// ancestors, and those of other users were not started by a jcode of this one.
func Descends(pid int) bool {
	self := os.Getpid()
	var younger time.Time
	for first := true; ; first = false {
		if pid == self {
			return true
		}
		o, err := look(uint32(pid), younger)
		switch {
		case errors.Is(err, errNotOurs):
			return first
		case err != nil || hasMark(o.environment):
			return true // it can't be seen: nothing that should be believed
		}
		if pid, younger = o.parent, o.started; pid <= 0 {
			return false
		}
	}
}

// errNotOurs says that a process has ended, took the number of one that has, or belongs to another user.
var errNotOurs = errors.New("no process of this user's")

// origin is where a process comes from.
type origin struct {
	parent      int
	started     time.Time
	environment []uint16
}

// look returns the origin of a process that is older than another one, if that is given.
func look(pid uint32, younger time.Time) (o origin, err error) {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, pid)
	if err != nil {
		return o, errNotOurs
	}
	defer func() { _ = windows.CloseHandle(h) }() // only read
	var born, none windows.Filetime
	if err := windows.GetProcessTimes(h, &born, &none, &none, &none); err != nil {
		return o, err
	}
	o.started = time.Unix(0, born.Nanoseconds())
	if own, err := OwnProcess(h); err != nil || !own || !younger.IsZero() && o.started.After(younger) {
		return o, errNotOurs
	}
	r, err := windows.OpenProcess(windows.PROCESS_QUERY_INFORMATION|windows.PROCESS_VM_READ, false, pid)
	if err != nil {
		return o, err
	}
	defer func() { _ = windows.CloseHandle(r) }() // as above
	var basic windows.PROCESS_BASIC_INFORMATION
	if err := windows.NtQueryInformationProcess(r, windows.ProcessBasicInformation, unsafe.Pointer(&basic), uint32(unsafe.Sizeof(basic)), nil); err != nil {
		return o, err
	}
	o.parent = int(basic.InheritedFromUniqueProcessId)
	o.environment, err = environment(r, uintptr(unsafe.Pointer(basic.PebBaseAddress)))
	return o, err
}

// OwnProcess reports whether a process belongs to the user of this one.
func OwnProcess(h windows.Handle) (bool, error) {
	var token windows.Token
	if err := windows.OpenProcessToken(h, windows.TOKEN_QUERY, &token); err != nil {
		return false, err
	}
	defer func() { _ = token.Close() }() // only read
	its, err := token.GetTokenUser()
	if err != nil {
		return false, err
	}
	ours, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return false, err
	}
	return its.User.Sid.Equals(ours.User.Sid), nil
}

// maxEnvironment is how much of an environment is read, in bytes: Windows allows 64 KB for most.
const maxEnvironment = 1 << 20

// environment reads the environment that a process has, from the block at peb.
func environment(h windows.Handle, peb uintptr) ([]uint16, error) {
	var parameters uintptr
	if err := peek(h, peb+unsafe.Offsetof(windows.PEB{}.ProcessParameters), unsafe.Pointer(&parameters), unsafe.Sizeof(parameters)); err != nil {
		return nil, err
	}
	var p windows.RTL_USER_PROCESS_PARAMETERS
	if err := peek(h, parameters, unsafe.Pointer(&p), unsafe.Offsetof(p.PackageDependencyData)); err != nil {
		return nil, err
	}
	size := min(p.EnvironmentSize, maxEnvironment) / 2
	if size == 0 {
		return nil, nil
	}
	out := make([]uint16, size)
	return out, peek(h, uintptr(p.Environment), unsafe.Pointer(&out[0]), size*2)
}

// peek copies memory of a process to here.
func peek(h windows.Handle, from uintptr, to unsafe.Pointer, size uintptr) error {
	var n uintptr
	if err := windows.ReadProcessMemory(h, from, (*byte)(to), size, &n); err != nil {
		return err
	}
	if n != size {
		return errors.New("a process changed while it was read")
	}
	return nil
}

// hasMark reports whether an environment, strings that a 0 ends, has the mark of a tree.
func hasMark(env []uint16) bool {
	mark := utf16.Encode([]rune(markerName + "="))
	for start := true; len(env) >= len(mark); env = env[1:] {
		if start && string(utf16.Decode(env[:len(mark)])) == markerName+"=" {
			return true
		}
		start = env[0] == 0
	}
	return false
}
