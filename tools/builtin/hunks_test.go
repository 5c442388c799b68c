package builtin_test

import (
	"strings"
	"testing"

	"jcode/tools/builtin"
)

// numberedLines returns lines with numbers, with some of them replaced.
func numberedLines(n int, with map[int]string) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		if s, ok := with[i]; ok {
			b.WriteString(s)
		} else {
			b.WriteString("line " + strings.Repeat("i", i) + "\r\n")
		}
	}
	return b.String()
}

// What a person takes of a change is written, the rest is not, and the model is told what is missing.
func TestOnlyTheHunksThatAPersonTakesAreWritten(t *testing.T) {
	t.Parallel()
	r := newRig(t, builtin.Options{})
	before := numberedLines(40, nil)
	r.put("a.txt", before)
	r.ok("read", args{"path": "a.txt"})
	r.gate.hunks = []int{0, 2}
	res := r.ok("write", args{"path": "a.txt", "content": numberedLines(40, map[int]string{3: "three\r\n", 20: "twenty\r\n", 40: "forty"})})
	r.holds("a.txt", numberedLines(40, map[int]string{3: "three\r\n", 40: "forty"}))
	has(t, res.Text, "the user took 2 of 3 hunks", "this one was refused and is not written", "+twenty")
	if res.Display.Added != 2 || strings.Contains(res.Display.Diff, "twenty") {
		t.Errorf("shown: %+v", res.Display)
	}

	r.gate.hunks = []int{1}
	list := []args{{"old_string": "three", "new_string": "drei"}, {"old_string": "forty", "new_string": "vierzig"}}
	res = r.ok("edit", args{"path": "a.txt", "edits": list})
	r.holds("a.txt", numberedLines(40, map[int]string{3: "three\r\n", 40: "vierzig"}))
	has(t, res.Text, "took 1 of 2 hunks", "+drei")

	r.gate.hunks = nil
	res = r.ok("edit", args{"path": "a.txt", "old_string": "vierzig", "new_string": "quarante"})
	if strings.Contains(res.Text, "hunk") {
		t.Errorf("all was taken: %s", res.Text)
	}
}

func TestOnlyTheHunksOfAPatchThatAPersonTakesAreWritten(t *testing.T) {
	t.Parallel()
	r := newRig(t, builtin.Options{})
	parts := []string{
		"*** Update File: a.go\n@@\n-var x = 1\n+var x = 2",
		"*** Add File: new.txt\n+one",
		"*** Delete File: gone.txt",
		"*** Update File: run.sh\n*** Move to: bin/run.sh\n@@\n-echo one\n+echo two",
	}
	for taken, want := range map[[2]int]map[string]string{
		{0, 3}: {"a.go": "var x = 2\n", "gone.txt": "old\n", "bin/run.sh": "echo two\n"},
		{1, 2}: {"a.go": "var x = 1\n", "new.txt": "one\n", "bin/run.sh": "echo one\n"},
	} {
		for name, content := range map[string]string{"a.go": "var x = 1\n", "gone.txt": "old\n", "run.sh": "echo one\n"} {
			r.put(name, content)
		}
		r.gate.hunks = nil
		r.call("remove", args{"path": "bin/run.sh"})
		r.call("remove", args{"path": "new.txt"})
		r.gate.hunks = taken[:]
		res := r.ok("apply_patch", patched(parts...))
		has(t, res.Text, "the user took 2 of 4 hunks", "these were refused and are not written")
		for _, name := range []string{"a.go", "new.txt", "gone.txt", "bin/run.sh"} {
			if content, there := want[name]; there {
				r.holds(name, content)
			} else {
				r.absent(name)
			}
		}
	}
}

// Hunks are numbers of what was shown: if the file is another one by then, nothing is written.
func TestHunksOfAFileThatChangedMeanwhileAreNotWritten(t *testing.T) {
	t.Parallel()
	r := newRig(t, builtin.Options{})
	r.put("a.txt", numberedLines(40, nil))
	r.ok("read", args{"path": "a.txt"})
	r.gate.hunks = []int{0}
	changed := numberedLines(40, map[int]string{1: "somebody else\r\n"})
	r.gate.during = func() { r.put("a.txt", changed) }
	list := []args{{"old_string": "line iii\r\n", "new_string": "three\r\n"}, {"old_string": numberedLines(40, nil)[len(numberedLines(39, nil)):], "new_string": "forty"}}
	r.refused("edit", args{"path": "a.txt", "edits": list}, "changed after the user chose hunks")
	r.holds("a.txt", changed)
}
