package transcript

import (
	"strings"
	"testing"

	"jcode/internal/diff"
	"jcode/tui/look"
)

func TestAFileWithDOSLineEndsIsShownWithoutMarks(t *testing.T) {
	t.Parallel()
	before, after := "a\r\nb\r\n", "a\r\nc\r\n"
	rows := strings.Join(DrawDiff(diff.Files("a.txt", &before, &after).Text, &look.Look{Theme: look.NewTheme("dark", true), Width: 60}, 60, 100), "\n")
	if strings.Contains(rows, "␍") {
		t.Errorf("each line is marked:\n%s", stripped(rows))
	}
	after = "a\r\nc\n" // now one line ends differently
	rows = strings.Join(DrawDiff(diff.Files("a.txt", &before, &after).Text, &look.Look{Theme: look.NewTheme("dark", true), Width: 60}, 60, 100), "\n")
	if !strings.Contains(stripped(rows), "b␍") {
		t.Errorf("the line end that changed is not shown:\n%s", stripped(rows))
	}
}
