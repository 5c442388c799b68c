package gitindex_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"jcode/internal/gitindex"
)

// The entries are those that git lists, in every version of the format and with both hashes.
func TestParseGivesWhatGitLists(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("no git on this machine")
	}
	for _, hash := range []string{"sha1", "sha256"} {
		for _, version := range []string{"2", "3", "4"} {
			t.Run(hash+" "+version, func(t *testing.T) {
				dir := t.TempDir()
				run := func(dir string, args ...string) string {
					cmd := exec.Command(git, append([]string{"-c", "user.email=a@b", "-c", "user.name=n"}, args...)...)
					cmd.Dir, cmd.Env = dir, append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
					out, err := cmd.CombinedOutput()
					if err != nil {
						t.Skipf("this git can't do it: git %v: %v %s", args, err, out)
					}
					return string(out)
				}
				run(dir, "init", "-q", "--object-format="+hash)
				for _, name := range []string{"a", "a-b", "a/c", "ab/" + strings.Repeat("long", 40), "z z", "é"} {
					if name == "a" {
						name = "a.txt"
					}
					path := filepath.Join(dir, name)
					if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(path, []byte(name), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				inner := filepath.Join(dir, "sub", "inner")
				if err := os.MkdirAll(inner, 0o755); err != nil {
					t.Fatal(err)
				}
				run(inner, "init", "-q", "--object-format="+hash)
				run(inner, "commit", "-q", "--allow-empty", "-m", "x")
				run(dir, "add", "-A", ".")
				run(dir, "update-index", "--index-version", version)
				if version == "3" {
					if err := os.WriteFile(filepath.Join(dir, "later"), nil, 0o644); err != nil {
						t.Fatal(err)
					}
					run(dir, "add", "-N", "later") // needs the extended flags
				}
				data, err := os.ReadFile(filepath.Join(dir, ".git", "index"))
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				for _, e := range gitindex.Parse(data) {
					got = append(got, fmt.Sprintf("%06o %s", e.Mode, e.Path))
				}
				var want []string
				for line := range strings.SplitSeq(strings.TrimSuffix(run(dir, "ls-files", "-sz"), "\x00"), "\x00") {
					info, path, _ := strings.Cut(line, "\t")
					mode, _, _ := strings.Cut(info, " ")
					want = append(want, mode+" "+path)
				}
				if !slices.Equal(got, want) || !slices.Contains(got, "160000 sub/inner") {
					t.Errorf("got  %q\nwant %q", got, want)
				}
			})
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("DIRC\x00\x00\x00\x02\x00\x00\x00\x01" + strings.Repeat("\x00", 60) + "\x00\x01a\x00"))
	f.Add([]byte("DIRC\x00\x00\x00\x04\x00\x00\x00\x01" + strings.Repeat("\x00", 60) + "\x40\x01\x00\x00\x00a\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		list := gitindex.Parse(data)
		if !slices.IsSortedFunc(list, func(a, b gitindex.Entry) int { return strings.Compare(a.Path, b.Path) }) {
			t.Error("not sorted")
		}
	})
}
