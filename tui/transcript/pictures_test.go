package transcript

import (
	"bytes"
	"image"
	"image/png"
	"strings"
	"testing"

	"jcode/session"
	"jcode/tui/look"
)

func TestAStoredPictureIsAChip(t *testing.T) {
	t.Parallel()
	var shot bytes.Buffer
	if err := png.Encode(&shot, image.NewGray(image.Rect(0, 0, 64, 48))); err != nil {
		t.Fatal(err)
	}
	message := session.Message{Role: session.RoleUser, Seq: 1, Parts: []session.Part{
		{Kind: session.PartText, Text: `what is @"my shot.png"?`}, {Kind: session.PartImage, MIME: "image/png", Data: shot.Bytes()},
	}}
	tr := New()
	tr.AddHistory([]session.Message{message}, nil)
	l := look.Look{Theme: look.NewTheme("dark", true), Width: 80}
	if s := stripped(drawn(tr.Items[0], &l)); !strings.Contains(s, "what is [my\u00a0shot.png\u00a064×48]?") {
		t.Errorf("%q", s)
	}
}
