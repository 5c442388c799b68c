package model

import (
	"fmt"
	"net/url"
)

// checkURL says what is wrong with a base URL.
func checkURL(s string) error {
	u, err := url.Parse(s)
	switch {
	case s == "":
		return fmt.Errorf("no base URL is set")
	case err != nil:
		return fmt.Errorf("base URL %q: %w", s, err)
	case u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("base URL %q must begin with http:// or https://", s)
	case u.Host == "":
		return fmt.Errorf("base URL %q names no host", s)
	}
	return nil
}
