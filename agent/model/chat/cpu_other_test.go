//go:build !unix

package chat_test

import (
	"time"
)

// cpu is not available here.
func cpu() time.Duration { return 0 }
