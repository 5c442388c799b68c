package pool

import "os"

// rootFolder is the folder in which a host runs.
func rootFolder() string { return os.Getenv("SystemRoot") }

// neededVariables are those without which no process starts.
func neededVariables() []string { return []string{"SystemRoot"} }
