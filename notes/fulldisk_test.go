//go:build unix

package notes

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// childHome is the variable with the folder in which the test adds a note, as a child of itself.
const childHome = "NOTES_TEST_HOME"

// A disk that is full costs the new note, which is said; what was kept before stays as it is, also the index.
func TestAFullDiskCostsTheNewNoteAlone(t *testing.T) {
	if home := os.Getenv(childHome); home != "" {
		_, err := openIn(home, home).Add(t.Context(), New{Text: "One that does not fit any more.", Topic: "long"})
		if err == nil {
			t.Fatal("it was kept")
		}
		os.Stdout.WriteString("said: " + err.Error() + "\n") //nolint:errcheck // the parent misses it
		return
	}
	t.Parallel()
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no sh, whose ulimit plays the full disk")
	}
	r := newRig(t)
	r.root = r.dir
	r.write("long.md", strings.Repeat("- A line.\n", 1)+"- "+strings.Repeat("long ", 90)+"\n\n<!-- "+strings.Repeat("a comment of the user ", 100)+"-->\n")
	r.add(New{Text: "One that was kept.", Topic: "short"})
	before := files(t, r.dir)
	exe, err := os.Executable()
	if err != nil {
		t.Skip(err)
	}
	cmd := exec.CommandContext(t.Context(), sh, "-c", `trap '' XFSZ; ulimit -f 1; exec "$0" "$@"`, exe, "-test.run", "^TestAFullDiskCostsTheNewNoteAlone$", "-test.v")
	cmd.Env = append(os.Environ(), childHome+"="+r.dir)
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "said: ") || !strings.Contains(string(out), "large") {
		t.Errorf("%v: %s", err, out)
	}
	if after := files(t, r.dir); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
	r.add(New{Text: "One more with room again.", Topic: "long"})
	if got := files(t, r.dir); !strings.Contains(got, "room again") || !strings.Contains(got, "a comment of the user") {
		t.Errorf("%s", got)
	}
}

// files returns all files of the books, with what is in them.
func files(t *testing.T, home string) string {
	t.Helper()
	var out strings.Builder
	err := filepath.WalkDir(filepath.Join(home, "memory"), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := os.ReadFile(path)
		out.WriteString(path + "\n" + string(body))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}
