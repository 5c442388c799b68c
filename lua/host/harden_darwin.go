package host

// harden sets the process limits. This system has no way to take files or the network from the process.
func harden(long bool) []string { return setLimits(long) }
