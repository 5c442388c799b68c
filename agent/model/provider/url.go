package provider

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"jcode/internal/secret"
)

// Address returns the base URL in a form that may be shown: without a password, and without what its query holds of
// keys.
func (p Config) Address() string { return withoutPassword(p.BaseURL) }

// SplitURL divides a base URL into the address, without a slash at its end, and the query.
func SplitURL(base string) (address, query string) {
	address, query, _ = strings.Cut(base, "?")
	return strings.TrimRight(address, "/"), query
}

// withoutPassword masks what is between the user name and the host.
func withoutPassword(address string) string {
	if u, err := url.Parse(address); err == nil {
		hidden := false
		parts := strings.Split(u.RawQuery, "&")
		for i, part := range parts {
			if name, value, ok := strings.Cut(part, "="); ok && (secret.Parameter(name) || secret.Value(value)) {
				parts[i], hidden = name+"=…", true
			}
		}
		if u.RawQuery = strings.Join(parts, "&"); u.User == nil && !hidden {
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
