package config

import "fmt"

// Fault says why an entry can't be used. No retry helps.
type Fault struct{ text string }

func (f *Fault) Error() string { return f.text }

func faultf(format string, args ...any) error { return &Fault{fmt.Sprintf(format, args...)} }
