package merge

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"jcode/internal/worktree"
)

// What another program saves between the moment in which a merge was computed and the moment in which it is made is
// not lost: it is merged, or nothing is.
func TestAMergeLosesNothingThatAnotherProgramSavesMeanwhile(t *testing.T) {
	t.Parallel()
	file := func(text string) *worktree.File { return &worktree.File{Data: []byte(text)} }
	link := func(to string) *worktree.File { return &worktree.File{Data: []byte(to), Link: true} }
	first := Step{"first", file("1\n"), file("one\n")}
	for name, c := range map[string]struct {
		step  Step
		saved string // by the other program; "" removes the file
		want  string // afterwards
		fails bool
	}{
		"another line":      {Step{"f", file("a\nb\nc\nd\n"), file("A\nb\nc\nd\n")}, "a\nb\nc\nDD\n", "A\nb\nc\nDD\n", false},
		"the same line":     {Step{"f", file("a\nb\nc\nd\n"), file("A\nb\nc\nd\n")}, "mine\nb\nc\nd\n", "mine\nb\nc\nd\n", true},
		"bytes":             {Step{"f", file("a\x00b"), file("a\x00c")}, "a\x00d", "a\x00d", true},
		"a removed file":    {Step{"f", file("a\n"), nil}, "saved\n", "saved\n", true},
		"a new file":        {Step{"f", nil, file("new\n")}, "saved\n", "saved\n", true},
		"a file that went":  {Step{"f", file("a\n"), file("b\n")}, "", "", true},
		"a link for a file": {Step{"f", file("a\n"), link("first")}, "saved\n", "saved\n", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			put := func(name, text string) {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			held := func(name string) string {
				data, err := os.ReadFile(filepath.Join(dir, name))
				if err != nil && !os.IsNotExist(err) {
					t.Fatal(err)
				}
				return string(data)
			}
			put("first", "1\n")
			if c.saved != "" {
				put("f", c.saved)
			}
			done, err := Apply(dir, dir, []Step{first, c.step})
			if got := held("f"); got != c.want {
				t.Errorf("the file holds %q, want %q", got, c.want)
			}
			if !c.fails {
				if err != nil || len(done.Kept) != 1 || string(done.Kept[0].Found) != c.saved || string(done.Files["f"]) != c.want {
					t.Errorf("%+v, %v", done, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), "nothing was merged: f: ") || !done.Nothing {
				t.Errorf("%+v, %v", done, err)
			}
			if got := held("first"); got != "1\n" {
				t.Errorf("the file before it holds %q", got)
			}
		})
	}
}
