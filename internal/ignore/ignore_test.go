package ignore_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"jcode/internal/ignore"
)

func TestMatchFollowsGit(t *testing.T) {
	for _, c := range []struct {
		rules, path string
		dir         bool
		want        bool
	}{
		{"*.o", "a.o", false, true},
		{"*.o", "x/a.o", false, true},
		{"/a.o", "x/a.o", false, false},
		{"build/", "build", false, false},
		{"build/", "build", true, true},
		{"build/", "x/build", true, true},
		{"build/*\n!build/keep.txt", "build/keep.txt", false, false},
		{"build/*\n!build/keep.txt", "build/a", false, true},
		{"doc/*.txt", "doc/a.txt", false, true},
		{"doc/*.txt", "doc/x/a.txt", false, false},
		{"**/foo", "foo", false, true},
		{"**/foo", "a/b/foo", false, true},
		{"a/**/b", "a/b", false, true},
		{"a/**/b", "a/x/y/b", false, true},
		{"abc/**", "abc/x", false, true},
		{"abc/**", "abc", true, false},
		{"a**b", "axxb", false, true},
		{"[a-c].go", "b.go", false, true},
		{"[!a-c].go", "b.go", false, false},
		{"[[:digit:]]x", "5x", false, true},
		{"a[]]b", "a]b", false, true},
		{"[abc", "a", false, false},
		{`\#x`, "#x", false, true},
		{`\!x`, "!x", false, true},
		{"#x", "#x", false, false},
		{"x  ", "x", false, true},
		{`x\ `, "x ", false, true},
		{"x\r\n", "x", false, true},
		{"?", "é", false, false}, // git compares bytes
		{"*\n!*.go", "a.go", false, false},
		{"foo/bar", "x/foo/bar", false, false},
		{"\ufefffoo", "foo", false, true},
		{"**", "a/b", false, true},
		{"", "a", false, false},
		{"/", "a", true, false},
	} {
		s := (*ignore.Stack)(nil).Push("", ignore.Parse([]byte(c.rules)))
		if got := s.Ignored(c.path, c.dir); got != c.want {
			t.Errorf("%q on %q (folder %v): %v, want %v", c.rules, c.path, c.dir, got, c.want)
		}
	}
}

func TestDeeperRulesWin(t *testing.T) {
	top := (*ignore.Stack)(nil).Push("", ignore.Parse([]byte("*.log\n")))
	if !top.Ignored("x.log", false) {
		t.Error("the rules of the top do not hold")
	}
	s := top.Push("keep", ignore.Parse([]byte("!*.log\n/a.log\n")))
	for path, want := range map[string]bool{"keep/x.log": false, "keep/a.log": true, "keep/b/a.log": false} {
		if got := s.Ignored(path, false); got != want {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
	}
}

// git runs git in dir without the settings of the machine.
func git(t testing.TB, dir string, stdin []byte, args ...string) (string, error) {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Stdin = bytes.NewReader(stdin)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull, "HOME="+dir, "XDG_CONFIG_HOME="+dir)
	out, err := cmd.Output()
	return string(out), err
}

// TestRandomRulesAgreeWithGit compares with git itself on random rules and paths.
func TestRandomRulesAgreeWithGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	seed := uint64(7)
	rng := rand.New(rand.NewPCG(seed, 2))
	for round := range 60 {
		dir := t.TempDir()
		if _, err := git(t, dir, nil, "init", "-q"); err != nil {
			t.Skipf("git init: %v", err)
		}
		rules := randomRules(rng)
		if err := os.WriteFile(filepath.Join(dir, ".gitignore"), []byte(rules), 0o644); err != nil {
			t.Fatal(err)
		}
		paths := randomPaths(rng)
		out, err := git(t, dir, []byte(strings.Join(paths, "\x00")+"\x00"), "check-ignore", "--no-index", "-z", "--stdin")
		if err != nil && out != "" {
			t.Fatalf("check-ignore: %v", err)
		}
		want := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
		if out == "" {
			want = nil
		}
		s := (*ignore.Stack)(nil).Push("", ignore.Parse([]byte(rules)))
		var got []string
		for _, p := range paths {
			if ignoredWithParents(s, p) {
				got = append(got, p)
			}
		}
		sort.Strings(want)
		sort.Strings(got)
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Fatalf("round %d, seed %d, rules:\n%s\ngot  %q\nwant %q", round, seed, rules, got, want)
		}
	}
}

// ignoredWithParents does not enter ignored folders, as a walker.
func ignoredWithParents(s *ignore.Stack, path string) bool {
	for i, c := range path {
		if c == '/' && s.Ignored(path[:i], true) {
			return true
		}
	}
	return s.Ignored(path, false)
}

func randomRules(rng *rand.Rand) string {
	parts := []string{"a", "b", "ab", "a.go", "*", "**", "*.go", "a*", "?", "[ab]", "[!a]", "[a-", `\a`, "a**", "*b*", "[[:alpha:]]", "..", "[]-a]", "[a\\]b]"}
	var b strings.Builder
	for range 1 + rng.IntN(6) {
		if rng.IntN(4) == 0 {
			b.WriteByte('!')
		}
		if rng.IntN(4) == 0 {
			b.WriteByte('/')
		}
		for i := range 1 + rng.IntN(3) {
			if i > 0 {
				b.WriteByte('/')
			}
			b.WriteString(parts[rng.IntN(len(parts))])
		}
		if rng.IntN(4) == 0 {
			b.WriteByte('/')
		}
		b.WriteString([]string{"\n", "\r\n", " \n", "\n\n"}[rng.IntN(4)])
	}
	return b.String()
}

func randomPaths(rng *rand.Rand) []string {
	parts := []string{"a", "b", "ab", "a.go", "b.go", "abc", "x", "é", "-", "]", "ba"}
	seen := map[string]bool{}
	for range 60 {
		var p []string
		for range 1 + rng.IntN(4) {
			p = append(p, parts[rng.IntN(len(parts))])
		}
		seen[strings.Join(p, "/")] = true
	}
	var out []string
	for p := range seen {
		out = append(out, p)
	}
	sort.Strings(out)
	return out
}

func FuzzMatchEnds(f *testing.F) {
	f.Add("a/**/b/**/c\n*[!a-z]*?\\", "a/x/y/b/c", true)
	f.Fuzz(func(_ *testing.T, rules, path string, dir bool) {
		s := (*ignore.Stack)(nil).Push("x", ignore.Parse([]byte(rules)))
		s.Ignored(path, dir)
		s.Ignored("x/"+path, dir)
	})
}

func BenchmarkIgnored(b *testing.B) {
	s := (*ignore.Stack)(nil).Push("", ignore.Parse([]byte(strings.Repeat("*.o\nbuild/\n/dist\nfoo*\n*.[ch]pp~\nsrc/**/gen\n", 10))))
	for b.Loop() {
		s.Ignored("src/some/deep/path/to/file.go", false)
	}
}
