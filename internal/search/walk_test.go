package search_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"jcode/internal/search"
	"jcode/internal/testkit/leaks"
)

func TestMain(m *testing.M) { leaks.Main(m) }

func put(t testing.TB, dir, name, content string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func open(t testing.TB, dir string) *os.Root {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	return root
}

// walked lists the files of a walk by path.
func walked(t testing.TB, w search.Walk) []string {
	t.Helper()
	var mu sync.Mutex
	var out []string
	missed, err := w.Run(context.Background(), func(_ int, f search.File) {
		mu.Lock()
		defer mu.Unlock()
		out = append(out, f.Path)
	})
	if err != nil || missed != (search.Missed{}) {
		t.Fatalf("walk: %+v, %v", missed, err)
	}
	slices.Sort(out)
	return out
}

// TestWalkOfRandomTreesAgreesWithGit compares with git on random trees with ignore files in their
// folders.
func TestWalkOfRandomTreesAgreesWithGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", home)
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	t.Setenv("GIT_CONFIG_SYSTEM", os.DevNull)
	rng := rand.New(rand.NewPCG(1, 9))
	names := []string{"a", "b", "c.go", "d.log", ".h", "build", "x y", "é", "a.b"}
	rules := []string{"a", "/b", "*.log", "!d.log", "build/", "build/*", "!build/a", "*.go", "!*.go", "a/b", "**/a", "a/**", "!a/", "[a-c]*", ".*", "!.h", "x\\ y", "*", "!*/", "é"}
	for round := range 12 {
		dir := t.TempDir()
		for range 40 {
			var parts []string
			for range 1 + rng.IntN(4) {
				parts = append(parts, names[rng.IntN(len(names))])
			}
			path := filepath.Join(dir, filepath.Join(parts...))
			if os.MkdirAll(filepath.Dir(path), 0o755) == nil { // a part may be a file already
				if info, err := os.Lstat(path); err != nil || !info.IsDir() {
					_ = os.WriteFile(path, nil, 0o644) // the same
				}
			}
			if rng.IntN(6) == 0 {
				var b strings.Builder
				for range 1 + rng.IntN(3) {
					b.WriteString(rules[rng.IntN(len(rules))] + "\n")
				}
				_ = os.WriteFile(filepath.Join(filepath.Dir(path), ".gitignore"), []byte(b.String()), 0o644) // the same
			}
		}
		got := walked(t, search.Walk{Top: open(t, dir), Dir: "."})
		want := gitFiles(t, dir)
		if !slices.Equal(got, want) {
			t.Fatalf("round %d in %s\ngot  %q\nwant %q", round, dir, got, want)
		}
		// From the top of the repository, and from a folder in it.
		for _, sub := range names {
			if info, err := os.Stat(filepath.Join(dir, sub)); err != nil || !info.IsDir() {
				continue
			}
			var below []string
			for _, p := range want {
				if strings.HasPrefix(p, sub+"/") {
					below = append(below, p)
				}
			}
			if below == nil {
				continue // a folder at which a walk begins is walked even if it is ignored
			}
			if got := walked(t, search.Walk{Top: open(t, dir), Dir: sub, Above: search.Outer(dir)}); !slices.Equal(got, below) {
				t.Fatalf("round %d, from %s\ngot  %q\nwant %q", round, sub, got, below)
			}
			top := filepath.Join(dir, sub)
			got := walked(t, search.Walk{Top: open(t, top), Dir: ".", Above: search.Outer(top)})
			for i := range got {
				got[i] = sub + "/" + got[i]
			}
			if !slices.Equal(got, below) {
				t.Fatalf("round %d, with the top at %s\ngot  %q\nwant %q", round, sub, got, below)
			}
		}
	}
}

func git(t *testing.T, dir string, args ...string) []byte {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		t.Skipf("git %v: %v", args, err)
	}
	return out
}

func gitFiles(t *testing.T, dir string) []string {
	t.Helper()
	git(t, dir, "init", "-q")
	out := git(t, dir, "ls-files", "-coz", "--exclude-standard")
	var list []string
	for p := range bytes.SplitSeq(bytes.TrimSuffix(out, []byte{0}), []byte{0}) {
		if len(p) > 0 {
			list = append(list, string(p))
		}
	}
	slices.Sort(list)
	return list
}

// TestTrackedFilesAreSeenAlthoughIgnored compares with git for every version of the index.
func TestTrackedFilesAreSeenAlthoughIgnored(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	for _, version := range []string{"2", "3", "4"} {
		dir := t.TempDir()
		for _, f := range []string{"a", "out/kept", "out/lost", "out/deep/er/kept", "out/deep/lost", "x.log", "y.log", "out-side", "sub/out/kept", "sub/b", "new"} {
			put(t, dir, f, "")
		}
		git(t, dir, "init", "-q")
		git(t, dir, "add", "a", "out/kept", "out/deep/er/kept", "x.log", "sub/out/kept", "sub/b")
		git(t, dir, "update-index", "--index-version", version)
		if version == "3" {
			git(t, dir, "add", "-N", "new")
		}
		put(t, dir, ".gitignore", "out/\n*.log\n")
		want := gitFiles(t, dir)
		got := walked(t, search.Walk{Top: open(t, dir), Dir: ".", Tracked: search.TrackedIn(dir)})
		if !slices.Equal(got, want) || !slices.Contains(got, "out/deep/er/kept") {
			t.Errorf("version %s: got  %q\nwant %q", version, got, want)
		}
		sub := filepath.Join(dir, "sub")
		got = walked(t, search.Walk{Top: open(t, sub), Dir: ".", Above: search.Outer(sub), Tracked: search.TrackedIn(sub)})
		if !slices.Equal(got, []string{"b", "out/kept"}) {
			t.Errorf("version %s, below the top: %q", version, got)
		}
	}
}

func TestWalkVisitsEveryFileOnceHoweverManyThereAre(t *testing.T) {
	dir := t.TempDir()
	var want []string
	for i := range 300 {
		name := fmt.Sprintf("big/f%04d", i)
		put(t, dir, name, "")
		want = append(want, name)
	}
	put(t, dir, "z", "")
	want = append(want, "z")
	for _, workers := range []int{1, 3, 16} {
		if got := walked(t, search.Walk{Top: open(t, dir), Dir: ".", Workers: workers}); !slices.Equal(got, want) {
			t.Errorf("%d workers: %d files, want %d", workers, len(got), len(want))
		}
	}
}

func TestWalkDoesNotFollowLinks(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	put(t, outside, "secret", "x")
	put(t, dir, "d/f", "x")
	for name, target := range map[string]string{"loop": ".", "out": outside, "d/up": ".."} {
		if err := os.Symlink(target, filepath.Join(dir, filepath.FromSlash(name))); err != nil {
			t.Skipf("links can't be made here: %v", err)
		}
	}
	if got := walked(t, search.Walk{Top: open(t, dir), Dir: "."}); !slices.Equal(got, []string{"d/f", "d/up", "loop", "out"}) {
		t.Errorf("got %q", got)
	}
	if _, err := (search.Walk{Top: open(t, dir), Dir: "out"}).Run(context.Background(), func(int, search.File) { t.Error("walked out") }); err == nil {
		t.Error("a walk began at a link")
	}
}

func TestWalkEndsWithItsContext(t *testing.T) {
	dir := t.TempDir()
	for i := range 100 {
		put(t, dir, fmt.Sprintf("d%d/f", i), "")
	}
	ctx, cancel := context.WithCancel(context.Background())
	n := 0
	_, err := search.Walk{Top: open(t, dir), Dir: ".", Workers: 1}.Run(ctx, func(int, search.File) {
		if n++; n == 10 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || n > 11 {
		t.Errorf("after %d files: %v", n, err)
	}
}

func TestWalkTellsWhatItMissed(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, strings.Repeat("d/", search.MaxDepth+1)+"f", "")
	put(t, dir, "closed/f", "")
	if err := os.Chmod(filepath.Join(dir, "closed"), 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(dir, "closed"), 0o755) })
	missed, err := search.Walk{Top: open(t, dir), Dir: "."}.Run(context.Background(), func(int, search.File) {})
	if err != nil || missed.Deep != 1 {
		t.Errorf("missed %+v, %v", missed, err)
	}
	if os.Geteuid() != 0 && runtime.GOOS != "windows" && missed.Unreadable != 1 {
		t.Errorf("missed %+v", missed)
	}
}

func TestGrepKeepsTheFirstMatchesByPath(t *testing.T) {
	dir := t.TempDir()
	for i := range 600 {
		put(t, dir, fmt.Sprintf("d%02d/f%04d", i%30, i), "hit\nhit\n")
	}
	p, err := search.Compile("hit", false)
	if err != nil {
		t.Fatal(err)
	}
	found, err := search.Grep{Pattern: p, Limit: 7}.Files(context.Background(), search.Walk{Top: open(t, dir), Dir: "."})
	if err != nil || found.Total != 1200 || found.Files != 600 || len(found.Matches) != 7 {
		t.Fatalf("%d of %d in %d files, %v", len(found.Matches), found.Total, found.Files, err)
	}
	for i, m := range found.Matches {
		if want := fmt.Sprintf("d00/f%04d:%d", i/2*30, i%2+1); fmt.Sprintf("%s:%d", m.Path, m.Line) != want {
			t.Errorf("match %d is %s:%d, want %s", i, m.Path, m.Line, want)
		}
	}
}
