//go:build !linux && !darwin

package host

// harden has no layer on this system: only the process border and the guards protect.
func harden(bool) []string { return nil }

// cpuMillis is not measured on this system.
func cpuMillis() int64 { return 0 }
