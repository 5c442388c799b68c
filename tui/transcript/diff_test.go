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

// One line that another one replaced stands beside it in columns, however little they have in common.
func TestALineAndWhatReplacedItShareARow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ before, after, want string }{
		{"func main() {}\n", "package x // quite another line\n", "1 - func main() {}"},
		{"same\n  one\nend\n", "same\n\treturn nil, errNothing\nend\n", "2 -   one"},
	} {
		rows := DrawDiff(diff.Files("a.txt", &c.before, &c.after).Text, &look.Look{Theme: look.NewTheme("dark", true), Width: 120, Diffs: look.DiffSplit}, 120, 100)
		found := false
		for _, row := range rows {
			s := stripped(row)
			left, right, _ := strings.Cut(s, "│")
			if strings.HasPrefix(left, c.want) {
				found = strings.Contains(right, " + ")
			}
		}
		if !found {
			t.Errorf("not on one row:\n%s", stripped(strings.Join(rows, "\n")))
		}
	}
}
