package pool

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

// processMemoryCounters is PROCESS_MEMORY_COUNTERS of psapi.
type processMemoryCounters struct {
	size                                                         uint32
	pageFaults                                                   uint32
	peakWorkingSet, workingSet                                   uintptr
	quotaPeakPaged, quotaPaged, quotaPeakNonPaged, quotaNonPaged uintptr
	pagefile, peakPagefile                                       uintptr
}

// ResidentMemory returns the resident memory of a process in bytes; 0 if unknown.
func ResidentMemory(pid int) int64 {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return 0
	}
	defer func() { _ = windows.CloseHandle(h) }()
	c := processMemoryCounters{}
	c.size = uint32(unsafe.Sizeof(c))
	call := windows.NewLazySystemDLL("psapi.dll").NewProc("GetProcessMemoryInfo")
	if ok, _, _ := call.Call(uintptr(h), uintptr(unsafe.Pointer(&c)), uintptr(c.size)); ok == 0 {
		return 0
	}
	return int64(c.workingSet)
}
