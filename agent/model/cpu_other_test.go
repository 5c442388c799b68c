//go:build !unix

package model_test

import "time"

// cpu is not available here.
func cpu() time.Duration { return 0 }
