package wire

import (
	"net/http"
	"testing"
	"time"
)

func TestRetryAfterForms(t *testing.T) {
	soon := time.Now().Add(20 * time.Second).UTC().Format(http.TimeFormat)
	for in, want := range map[string]time.Duration{
		"": 0, "0": 0, "-5": 0, "5": 5 * time.Second, " 1.5 ": 1500 * time.Millisecond, "3600": time.Minute, "1e300": time.Minute,
		"NaN": 0, "soon": 0, "5s": 0, "Mon, 02 Jan 2006 15:04:05 GMT": 0, soon: 20 * time.Second,
	} {
		if got := retryAfter(in); got > want || got < want-10*time.Second {
			t.Errorf("%q is %v, want %v", in, got, want)
		}
	}
}
