package diff_test

import (
	"fmt"
	"strings"
	"testing"

	"jcode/internal/diff"
)

func files(old, now string) diff.Diff { return diff.Files("f", &old, &now) }

func TestFilesShowsChangesWithContextAndLineNumbers(t *testing.T) {
	var old strings.Builder
	for i := 1; i <= 30; i++ {
		fmt.Fprintf(&old, "%d\n", i)
	}
	d := files(old.String(), strings.Replace(old.String(), "\n20\n", "\ntwenty\nand\n", 1))
	want := "--- a/f\n+++ b/f\n@@ -17,7 +17,8 @@\n 17\n 18\n 19\n-20\n+twenty\n+and\n 21\n 22\n 23\n"
	if d.Text != want || d.Added != 2 || d.Removed != 1 {
		t.Errorf("+%d -%d\n%s", d.Added, d.Removed, d.Text)
	}
}

func TestFilesOfNewRemovedAndEqualFiles(t *testing.T) {
	s := "a\nb"
	if d := diff.Files("f", nil, &s); d.Text != "--- /dev/null\n+++ b/f\n@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file\n" {
		t.Errorf("new:\n%s", d.Text)
	}
	if d := diff.Files("f", &s, nil); d.Removed != 2 || !strings.Contains(d.Text, "+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n") {
		t.Errorf("removed:\n%s", d.Text)
	}
	if d := files(s, s); d != (diff.Diff{}) {
		t.Errorf("equal: %+v", d)
	}
}

func TestHugeChangesAreBoundedAndCounted(t *testing.T) {
	old := strings.Repeat("old line\n", 400_000)
	now := strings.Repeat("new line\n", 300_000)
	d := files(old, now)
	if d.Added != 300_000 || d.Removed != 400_000 {
		t.Errorf("+%d -%d", d.Added, d.Removed)
	}
	if len(d.Text) > 257<<10 || !strings.HasSuffix(d.Text, "more lines of this diff are not shown\n") {
		t.Errorf("%d bytes, ends %q", len(d.Text), d.Text[len(d.Text)-80:])
	}
}

func TestWordsMarksWhatDiffers(t *testing.T) {
	old, now := `return foo(a, "x")`, `return bar(a, "xy")`
	inOld, inNow := diff.Words(old, now)
	var got []string
	for _, s := range inOld {
		got = append(got, old[s.Start:s.End])
	}
	for _, s := range inNow {
		got = append(got, now[s.Start:s.End])
	}
	if strings.Join(got, " ") != "foo x bar xy" {
		t.Errorf("marked %q", got)
	}
	if a, b := diff.Words("abc", "xyz"); a != nil || b != nil {
		t.Error("lines with nothing in common were marked")
	}
}

func FuzzFilesCanBeApplied(f *testing.F) {
	f.Add("a\nb\nc\n", "a\nx\nc\n")
	f.Add("a\nb", "a\nb\n")
	f.Add("", "x")
	f.Add("b\na\nb\n", "b\n")
	f.Fuzz(func(t *testing.T, old, now string) {
		old, now = strings.ToValidUTF8(old, "?"), strings.ToValidUTF8(now, "?")
		d := files(old, now)
		if d.Text == "" {
			if old != now {
				t.Fatal("no diff of different texts")
			}
			return
		}
		if got := apply(t, old, d.Text); got != now {
			t.Fatalf("applied gives %q, want %q\n%s", got, now, d.Text)
		}
		if n := strings.Count(now, "\n") - strings.Count(old, "\n"); d.Added-d.Removed-n > 1 || d.Added-d.Removed-n < -1 {
			t.Fatalf("+%d -%d for %d lines", d.Added, d.Removed, n)
		}
	})
}

// apply applies a unified diff, independently of the code under test.
func apply(t *testing.T, old, d string) string {
	t.Helper()
	lines := strings.SplitAfter(old, "\n")
	var out strings.Builder
	at := 0
	body := strings.SplitAfter(d, "\n")[2:]
	for i := 0; i < len(body); i++ {
		l := body[i]
		content := func() string {
			if i+1 < len(body) && strings.HasPrefix(body[i+1], "\\ No newline") {
				return strings.TrimSuffix(l[1:], "\n")
			}
			return l[1:]
		}
		switch {
		case l == "" || l[0] == '\\':
		case strings.HasPrefix(l, "@@ -"):
			var from int
			if _, err := fmt.Sscanf(l, "@@ -%d", &from); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(strings.Split(l, " ")[1], ",0") {
				from++
			}
			for ; at < from-1; at++ {
				out.WriteString(lines[at])
			}
		case l[0] == '+':
			out.WriteString(content())
		case l[0] == '-' || l[0] == ' ':
			if lines[at] != content() {
				t.Fatalf("line %d is %q, the diff says %q", at+1, lines[at], content())
			}
			if l[0] == ' ' {
				out.WriteString(lines[at])
			}
			at++
		}
	}
	for ; at < len(lines); at++ {
		out.WriteString(lines[at])
	}
	return out.String()
}

func FuzzWordsLieInsideTheLines(f *testing.F) {
	f.Add("a b c", "a x c")
	f.Fuzz(func(t *testing.T, old, now string) {
		inOld, inNow := diff.Words(old, now)
		check := func(s string, spans []diff.Span) string {
			at, rest := 0, ""
			for _, sp := range spans {
				if sp.Start < at || sp.End <= sp.Start || sp.End > len(s) {
					t.Fatalf("spans %v of %q", spans, s)
				}
				rest += s[at:sp.Start]
				at = sp.End
			}
			return rest + s[at:]
		}
		if a, b := check(old, inOld), check(now, inNow); (inOld != nil || inNow != nil) && a != b {
			t.Fatalf("unmarked parts differ: %q %q", a, b)
		}
	})
}

func BenchmarkOneLineChangedInALargeFile(b *testing.B) {
	old := strings.Repeat("some line of source code here\n", 200_000)
	now := old[:3_000_000] + "X" + old[3_000_001:]
	b.SetBytes(int64(len(old)))
	for b.Loop() {
		files(old, now)
	}
}

func BenchmarkManyChanges(b *testing.B) {
	var old, now strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&old, "line number %d\n", i)
		if i%7 == 0 {
			fmt.Fprintf(&now, "changed %d\n", i)
		} else {
			fmt.Fprintf(&now, "line number %d\n", i)
		}
	}
	for b.Loop() {
		files(old.String(), now.String())
	}
}
