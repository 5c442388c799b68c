//go:build linux || darwin

package host

import "syscall"

// setLimits sets the process limits and returns those that could be set.
func setLimits(long bool) []string {
	cpu := uint64(limitCPU)
	if long {
		cpu = limitCPULong
	}
	var layers []string
	set := func(name string, what int, n uint64) {
		// Soft and hard are equal: Go ignores the signal of a soft CPU limit.
		if syscall.Setrlimit(what, &syscall.Rlimit{Cur: n, Max: n}) == nil {
			layers = append(layers, name)
		}
	}
	if !raceDetector {
		set("memory limit", syscall.RLIMIT_DATA, limitData)
	}
	set("cpu limit", syscall.RLIMIT_CPU, cpu)
	set("no core", syscall.RLIMIT_CORE, 0)
	set("no file growth", syscall.RLIMIT_FSIZE, 0)
	set("few descriptors", syscall.RLIMIT_NOFILE, limitFiles)
	return layers
}

// cpuMillis returns the CPU time of the process so far.
func cpuMillis() int64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return (int64(u.Utime.Sec)+int64(u.Stime.Sec))*1000 + (int64(u.Utime.Usec)+int64(u.Stime.Usec))/1000
}
