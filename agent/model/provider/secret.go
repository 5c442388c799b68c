package provider

import (
	"log/slog"
)

// Secret is a key. Printing, logging or encoding it only shows whether it is set; string(s) returns it.
type Secret string

// String hides the key.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return "[set]"
}

// GoString hides the key.
func (s Secret) GoString() string { return s.String() }

// MarshalText hides the key.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// LogValue hides the key.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }
