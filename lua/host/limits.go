package host

// Limits of the process. RLIMIT_DATA counts what is writable; RLIMIT_AS would be wrong,
// because a Go process maps far more than it uses.
const (
	limitData    = 512 << 20
	limitCPU     = 300  // seconds, a pooled host
	limitCPULong = 3600 // seconds, a host that lives as long as its plugin
	limitFiles   = 32
)
