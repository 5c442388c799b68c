//go:build !darwin && !windows

package cli

import (
	"errors"
	"os/exec"
)

// systemBrowser returns the command that opens an address.
func systemBrowser() ([]string, error) {
	if _, err := exec.LookPath("xdg-open"); err != nil {
		return nil, errors.New("no $BROWSER is set")
	}
	return []string{"xdg-open"}, nil
}
