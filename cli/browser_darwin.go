package cli

// systemBrowser returns the command that opens an address.
func systemBrowser() ([]string, error) { return []string{"open"}, nil }
