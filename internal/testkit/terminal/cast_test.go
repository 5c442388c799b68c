package terminal

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"time"
)

// screenOf returns a screen with lines of text.
func screenOf(lines ...string) Screen {
	s := Screen{Cols: 10, Rows: len(lines)}
	for _, line := range lines {
		row := make([]Cell, 0, s.Cols)
		for _, r := range line {
			row = append(row, Cell{Text: string(r), Width: 1})
		}
		s.cells = append(s.cells, row)
	}
	return s
}

// A line is drawn once and seen as long as it is on the screen; at rest the last screen is seen.
func TestCastShowsEachLineAsLongAsItIsThere(t *testing.T) {
	cast := Cast([]Shot{{screenOf("top", "one"), time.Second}, {screenOf("top", "two"), 2 * time.Second}, {screenOf("top", "one"), time.Second}}, "#fff", "#000")
	for decoder := xml.NewDecoder(strings.NewReader(cast)); ; {
		_, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{
		`<g visibility="visible"><animate attributeName="visibility" calcMode="discrete" dur="4.0s" repeatCount="indefinite" values="visible;hidden;visible" keyTimes="0.0000;0.2500;0.7500"/>`,
		`<g visibility="hidden"><animate attributeName="visibility" calcMode="discrete" dur="4.0s" repeatCount="indefinite" values="hidden;visible;hidden" keyTimes="0.0000;0.2500;0.7500"/>`,
	} {
		if strings.Count(cast, want) != 1 {
			t.Errorf("no %s in\n%s", want, cast)
		}
	}
	if strings.Count(cast, ">top<") != 1 || strings.Count(cast, ">one<") != 1 || strings.Count(cast, "<g ") != 2 {
		t.Errorf("a line is drawn more than once, or one that stays moves:\n%s", cast)
	}
}
