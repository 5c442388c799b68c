//go:build !darwin

package paths

// spelled returns a path as it is: names are taken literally here, and EvalSymlinks spells
// them as the folders do on Windows.
func spelled(path string) string { return path }
