package config

// systemFolder is the folder that the system names for programs, "" where it names none.
func systemFolder(getenv func(string) string, variable string) string { return getenv(variable) }
