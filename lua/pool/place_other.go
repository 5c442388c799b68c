//go:build !windows

package pool

// rootFolder is the folder in which a host runs.
func rootFolder() string { return "/" }

// neededVariables are those without which no process starts.
func neededVariables() []string { return nil }
