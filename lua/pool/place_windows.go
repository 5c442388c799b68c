package pool

import "os"

// rootFolder returns the folder in which a host runs.
func rootFolder() string { return os.Getenv("SystemRoot") }

// neededVariables returns the variables without which no process starts.
func neededVariables() []string { return []string{"SystemRoot"} }
