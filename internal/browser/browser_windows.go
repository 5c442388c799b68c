package browser

import "jcode/internal/launch"

// systemBrowser returns the command that opens an address.
func systemBrowser(launch.Programs) ([]string, error) {
	return []string{"rundll32", "url.dll,FileProtocolHandler"}, nil
}
