package text_test

import (
	"fmt"
	"testing"

	"jcode/internal/text"
)

// A character that is drawn as nothing shows its number, so that two names that look alike differ; letters, emoji
// and the spaces of typography stay.
func TestCharactersThatAreDrawnAsNothingShowTheirNumber(t *testing.T) {
	for _, r := range []rune{
		0xad, 0x34f, 0x61c, 0x115f, 0x1160, 0x1680, 0x17b4, 0x180b, 0x180e, 0x200b, 0x200e, 0x2028, 0x202e, 0x202f, 0x205f, 0x2060, 0x2065, 0x206a, 0x2800, 0x3164, 0xfe00, 0xfe0e, 0xfeff, 0xffa0, 0xfff0, 0xfff9,
		0x13430, 0x16fe4, 0x1bca0, 0x1d173, 0xe0001, 0xe0041, 0xe007f, 0xe0100, 0xe01ef, 0xe0fff,
	} {
		if got, want := text.Visible("a"+string(r)+"b"), fmt.Sprintf("a<U+%04X>b", r); got != want {
			t.Errorf("U+%04X is shown as %q, want %q", r, got, want)
		}
	}
	for _, s := range []string{"naïve", "日本語　文", "نص", "👩\u200d💻", "❤\ufe0f", "क्\u200dष", "é\u00a0b"} {
		if got := text.Visible(s); got != s {
			t.Errorf("%q is shown as %q", s, got)
		}
	}
}
