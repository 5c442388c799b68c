package provider

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// Address returns the base URL in a form that may be shown: without a password.
func (p Config) Address() string { return withoutPassword(p.BaseURL) }

// withoutPassword masks what is between the user name and the host.
func withoutPassword(address string) string {
	if u, err := url.Parse(address); err == nil {
		if u.User == nil {
			return address
		}
		return u.Redacted()
	}
	if _, host, ok := strings.Cut(address, "@"); ok { // not a URL, but it may hold a password
		return "…@" + host
	}
	return address
}

// CheckURL says what is wrong with a base URL.
func CheckURL(s string) error {
	u, err := url.Parse(s)
	switch {
	case s == "":
		return fmt.Errorf("no base URL is set")
	case err != nil:
		var bad *url.Error
		if errors.As(err, &bad) {
			err = bad.Err // without the address, which may hold a password
		}
		return fmt.Errorf("base URL %q: %w", withoutPassword(s), err)
	case u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("base URL %q must begin with http:// or https://", withoutPassword(s))
	case u.Host == "":
		return fmt.Errorf("base URL %q names no host", withoutPassword(s))
	}
	return nil
}
