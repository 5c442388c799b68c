package config

// systemFolder returns the folder that the system names for programs, "" for none.
func systemFolder(getenv func(string) string, variable string) string { return getenv(variable) }
