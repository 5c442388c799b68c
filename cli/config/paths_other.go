//go:build !windows

package config

// systemFolder returns "": AppData and LocalAppData mean nothing here.
func systemFolder(func(string) string, string) string { return "" }
