//go:build !windows

package config

// systemFolder is "": AppData and LocalAppData mean nothing here.
func systemFolder(func(string) string, string) string { return "" }
