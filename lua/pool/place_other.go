//go:build !windows

package pool

// rootFolder returns the folder in which a host runs.
func rootFolder() string { return "/" }

// neededVariables returns the variables without which no process starts.
func neededVariables() []string { return nil }
