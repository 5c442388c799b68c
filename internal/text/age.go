package text

import (
	"fmt"
	"time"
)

// Age writes how old something is, in one unit.
func Age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "now"
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}

// Ago writes how long ago something was, in one unit.
func Ago(d time.Duration) string {
	if d < time.Minute {
		return Age(d)
	}
	return Age(d) + " ago"
}
