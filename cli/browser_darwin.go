package cli

// systemBrowser is the command that opens an address.
func systemBrowser() ([]string, error) { return []string{"open"}, nil }
