package endpoint

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// Every byte is tried at every place of a piece of eight, beside pieces that are copied whole.
func TestEscapedTextReadsBackAsItWas(t *testing.T) {
	t.Parallel()
	for c := range 256 {
		for at := range 24 {
			text := []byte(strings.Repeat("plain ~!", 3))
			text[at] = byte(c)
			got := AppendString(nil, string(text))
			var back string
			if err := json.Unmarshal(got, &back); err != nil {
				t.Fatalf("byte %#x at %d: %s: %v", c, at, got, err)
			}
			if want := strings.ToValidUTF8(string(text), "\uFFFD"); back != want {
				t.Fatalf("byte %#x at %d: %q instead of %q", c, at, back, want)
			}
			if !utf8.Valid(got) || strings.ContainsFunc(string(got), func(r rune) bool { return r < 0x20 || r == 0x7f }) {
				t.Fatalf("byte %#x at %d is not escaped: %q", c, at, got)
			}
		}
	}
	const other = "é, 世界, 😀 and \"quoted\"\n\tlines \\ of 12345678 bytes"
	var back string
	if err := json.Unmarshal(AppendString(nil, other), &back); err != nil || back != other {
		t.Errorf("%q, %v", back, err)
	}
}

func BenchmarkEscape(b *testing.B) {
	text := strings.Repeat("12\tline 12 of a file that is read\n", 200)
	dst := make([]byte, 0, 2*len(text))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		dst = AppendEscaped(dst[:0], text)
	}
}
