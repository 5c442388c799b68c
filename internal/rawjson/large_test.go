package rawjson

import (
	"encoding/json"
	"strings"
	"testing"
)

// A long string is decoded as encoding/json decodes it, for any content.
func TestLongStringsAreDecodedLikeShortOnes(t *testing.T) {
	pad := strings.Repeat("x", Large)
	for _, s := range []string{`plain`, `a\n\t\"\\b`, `\ud83d\ude00 \u00e9`, `\ud83d alone`, "bad \xff byte", `\\\\`, `\\u0041`, `end\\`} {
		raw := json.RawMessage(`"` + pad + s + `"`)
		if got, want := LongString(raw), String(raw); got != want {
			t.Errorf("%q: …%q, want …%q", s, got[len(pad):], want[len(pad):])
		}
	}
}
