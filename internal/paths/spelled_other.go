//go:build !darwin

package paths

// spelled returns a path unchanged: names are literal on these systems, and on Windows
// EvalSymlinks spells them as the folders do.
func spelled(path string) string { return path }
