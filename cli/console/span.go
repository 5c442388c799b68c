package console

import (
	"fmt"
	"strconv"
	"time"
)

// Span is a duration on the command line: with a unit, or a number of milliseconds.
type Span time.Duration

// UnmarshalText reads "45s", "2m" or "1500".
func (s *Span) UnmarshalText(text []byte) error {
	if ms, err := strconv.ParseFloat(string(text), 64); err == nil && ms > 0 {
		*s = Span(ms * float64(time.Millisecond))
		return nil
	}
	d, err := time.ParseDuration(string(text))
	if err != nil || d <= 0 {
		return fmt.Errorf("%q is not a duration: use 45s, 2m, or a number of milliseconds", text)
	}
	*s = Span(d)
	return nil
}
