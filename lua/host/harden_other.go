//go:build !linux && !darwin

package host

// harden does nothing on this system: only the separate process and the guards protect it.
func harden(bool) []string { return nil }

// cpuMillis is not measured on this system.
func cpuMillis() int64 { return 0 }
