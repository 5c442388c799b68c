package cli

// systemBrowser returns the command that opens an address.
func systemBrowser() ([]string, error) {
	return []string{"rundll32", "url.dll,FileProtocolHandler"}, nil
}
