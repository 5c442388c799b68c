//go:build !darwin && !windows

package browser

import (
	"errors"

	"jcode/internal/launch"
)

// systemBrowser returns the command that opens an address.
func systemBrowser(programs launch.Programs) ([]string, error) {
	switch _, err := programs.Find("xdg-open"); {
	case launch.IsPassedOver(err):
		return nil, err
	case err != nil:
		return nil, errors.New("no $BROWSER is set")
	}
	return []string{"xdg-open"}, nil
}
