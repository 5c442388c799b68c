package clipboard

// systemPrograms returns the programs that the system includes.
func systemPrograms(func(string) string) []program { return windowsPrograms() }
