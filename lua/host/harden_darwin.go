package host

// harden sets the limits that this system knows; there is no file or network layer.
func harden(long bool) []string { return setLimits(long) }
