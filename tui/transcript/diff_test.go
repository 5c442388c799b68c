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

// A line that was only moved to the right has no word that is marked: blanks say nothing.
func TestBlanksAloneAreNotMarkedInADiff(t *testing.T) {
	t.Parallel()
	before, after := "if a {\n\tcall(one)\n\tx := 1\n}\n", "if a {\n\t\tcall(one)\n\tx := 2\n}\n"
	l := &look.Look{Theme: look.NewTheme("dark", true), Width: 60}
	marked := map[string]bool{}
	for _, row := range DrawDiff(diff.Files("a.go", &before, &after).Text, l, 60, 100) {
		if strings.Contains(row, string(l.Theme.AddedWord)) || strings.Contains(row, string(l.Theme.RemovedWord)) {
			marked[strings.TrimSpace(stripped(row))] = true
		}
	}
	if len(marked) != 2 || !marked["3 -     x := 1"] || !marked["3 +     x := 2"] {
		t.Errorf("marked rows: %v", marked)
	}
}
