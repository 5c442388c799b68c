package proc

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// reach is what ends with this process, see Reach; hasNamespaces says whether a child may have its own
// namespaces.
const (
	reach         = "processes of its job object"
	hasNamespaces = false
)

func attributes(Spec) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_NO_WINDOW, HideWindow: true}
}

// tree is a job object that contains the child and everything that it starts.
type tree struct {
	p   *child
	job windows.Handle // 0 if no job could be created: then only the child is known
}

// newTree puts the child into a job object. A process that the child starts before that escapes; the window
// is a few microseconds.
func newTree(p *child) tree {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return tree{p: p}
	}
	limits := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{}
	limits.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	if err == nil {
		err = assign(job, uint32(p.pid))
	}
	if err != nil {
		_ = windows.CloseHandle(job) // it is empty
		return tree{p: p}
	}
	return tree{p: p, job: job}
}

func assign(job windows.Handle, pid uint32) error {
	h, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, pid)
	if err != nil {
		return err
	}
	defer func() { _ = windows.CloseHandle(h) }() // assigned or not, the handle is no longer needed
	return windows.AssignProcessToJobObject(job, h)
}

func (t tree) signal(sig os.Signal) error {
	if sig != syscall.SIGTERM {
		return errors.New("signal process: not available on Windows")
	}
	t.kill()
	return nil
}

func (t tree) kill() []Info {
	if t.job == 0 {
		if t.p.ended() {
			return nil
		}
		if err := t.p.proc.Kill(); errors.Is(err, os.ErrProcessDone) {
			return nil
		}
		return t.running()
	}
	_ = windows.TerminateJobObject(t.job, 1) // running shows what it did not end
	return t.running()
}

// processList is JOBOBJECT_BASIC_PROCESS_ID_LIST with room for the members that matter.
type processList struct {
	assigned uint32
	listed   uint32
	ids      [512]uintptr
}

func (t tree) running() []Info {
	if t.job == 0 {
		if t.p.ended() {
			return nil
		}
		return []Info{{Pid: t.p.pid, Command: imageName(uint32(t.p.pid))}}
	}
	var list processList
	err := windows.QueryInformationJobObject(t.job, windows.JobObjectBasicProcessIdList,
		uintptr(unsafe.Pointer(&list)), uint32(unsafe.Sizeof(list)), nil)
	if err != nil && !errors.Is(err, windows.ERROR_MORE_DATA) {
		return nil
	}
	var out []Info
	for _, id := range list.ids[:min(int(list.listed), len(list.ids))] {
		out = append(out, Info{Pid: int(id), Command: imageName(uint32(id))})
	}
	slices.SortFunc(out, func(a, b Info) int { return a.Pid - b.Pid })
	return out
}

func imageName(pid uint32) string {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, pid)
	if err != nil {
		return "?"
	}
	defer func() { _ = windows.CloseHandle(h) }() // only read
	buf := make([]uint16, windows.MAX_PATH)
	n := uint32(len(buf))
	if err := windows.QueryFullProcessImageName(h, 0, &buf[0], &n); err != nil {
		return "?"
	}
	return filepath.Base(windows.UTF16ToString(buf[:n]))
}
