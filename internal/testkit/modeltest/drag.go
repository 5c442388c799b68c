package modeltest

import (
	"os"
	"strconv"
	"strings"
	"time"
)

// drag makes every server of a test run slower, to find tests that depend on its speed:
// JCODE_TEST_LATE_END=300ms delays the end of an answer by that much, and JCODE_TEST_PIECES=5 sends a stream
// in pieces of that many bytes. Replies with their own pace keep it.
type drag struct {
	end   time.Duration
	piece int
}

func dragFromEnv() (d drag) {
	d.end, _ = time.ParseDuration(os.Getenv("JCODE_TEST_LATE_END")) // unset: no drag
	d.piece, _ = strconv.Atoi(os.Getenv("JCODE_TEST_PIECES"))
	return d
}

// on returns the reply as it is sent.
func (d drag) on(r Reply) Reply {
	if r.burst || r.raw != "" {
		return r
	}
	if r.piece == 0 {
		r.piece = d.piece
	}
	if r.lateEnd == 0 {
		r.lateEnd = d.end
	}
	return r
}

// ends reports whether a block of a stream ends the answer.
func ends(block string) bool {
	for _, sign := range []string{`"finish_reason":"`, `"type":"message_delta"`, `"type":"response.completed"`} {
		if strings.Contains(block, sign) {
			return true
		}
	}
	return false
}
