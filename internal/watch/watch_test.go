package watch_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"jcode/internal/testkit/leaks"
	"jcode/internal/watch"
)

func TestMain(m *testing.M) { leaks.Main(m) }

const patience = time.Minute

// both runs a test with the system's events and with polling.
func both(t *testing.T, test func(t *testing.T, opts watch.Options)) {
	t.Run("events", func(t *testing.T) {
		test(t, watch.Options{Debounce: 60 * time.Millisecond, Poll: 50 * time.Millisecond})
	})
	t.Run("polling", func(t *testing.T) {
		test(t, watch.Options{Debounce: 150 * time.Millisecond, Poll: 30 * time.Millisecond, PollOnly: true})
	})
}

func start(t *testing.T, opts watch.Options, roots ...watch.Root) *watch.Watcher {
	t.Helper()
	w := watch.New(t.Context(), roots, opts)
	t.Cleanup(w.Close)
	return w
}

func tempDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// next waits for one report.
func next(t *testing.T, w *watch.Watcher) watch.Event {
	t.Helper()
	select {
	case ev := <-w.Events():
		return ev
	case <-time.After(patience):
		t.Fatal("no report in time")
		return watch.Event{}
	}
}

// until collects reports until path is among them.
func until(t *testing.T, w *watch.Watcher, path string) {
	t.Helper()
	deadline := time.After(patience)
	var seen []string
	for {
		select {
		case ev := <-w.Events():
			seen = append(seen, ev.Paths...)
			if slices.Contains(ev.Paths, path) {
				return
			}
		case <-deadline:
			t.Fatalf("%s was not reported; reported: %v", path, seen)
		}
	}
}

func marked(name string) func(string) bool {
	return func(p string) bool { return filepath.Base(p) == name }
}

func TestEditIsReportedOnce(t *testing.T) {
	saves := map[string]func(t *testing.T, file string){
		"write in place": func(t *testing.T, file string) { write(t, file, "new text") },
		"truncate, then write": func(t *testing.T, file string) {
			f, err := os.OpenFile(file, os.O_WRONLY|os.O_TRUNC, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			for _, piece := range []string{"new ", "text"} {
				if _, err := f.WriteString(piece); err != nil {
					t.Fatal(err)
				}
			}
		},
		"rename over": func(t *testing.T, file string) {
			write(t, file+".new", "new text")
			rename(t, file+".new", file)
		},
		"backup and swap": func(t *testing.T, file string) {
			write(t, filepath.Join(filepath.Dir(file), ".SKILL.md.swp"), "x")
			write(t, filepath.Join(filepath.Dir(file), "4913"), "")
			rename(t, file, file+"~")
			write(t, file, "new text")
			remove(t, file+"~")
			remove(t, filepath.Join(filepath.Dir(file), "4913"))
			remove(t, filepath.Join(filepath.Dir(file), ".SKILL.md.swp"))
		},
	}
	for name, save := range saves {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, opts watch.Options) {
				root := tempDir(t)
				file := filepath.Join(root, "one", "SKILL.md")
				write(t, file, "old")
				w := start(t, opts, watch.Root{Path: root, Depth: 1, Match: marked("SKILL.md")})
				began := time.Now()
				save(t, file)
				took := time.Since(began)
				if ev := next(t, w); !slices.Equal(ev.Paths, []string{file}) {
					t.Errorf("reported %v, want only %s", ev.Paths, file)
				}
				// A second change comes next: nothing else was reported in between, unless the
				// machine paused during the save, which is then reported as two changes.
				sentinel := filepath.Join(root, "two", "SKILL.md")
				write(t, sentinel, "x")
				ev := next(t, w)
				for took >= opts.Debounce/2 && slices.Equal(ev.Paths, []string{file}) {
					ev = next(t, w)
				}
				if !slices.Equal(ev.Paths, []string{sentinel}) {
					t.Errorf("then reported %v, want only %s; saving took %v", ev.Paths, sentinel, took)
				}
			})
		})
	}
}

func TestMissingRootIsNoticedWhenItAppears(t *testing.T) {
	both(t, func(t *testing.T, opts watch.Options) {
		dir := tempDir(t)
		root := filepath.Join(dir, ".jcode", "deep", "skills")
		w := start(t, opts, watch.Root{Path: root, Depth: 1, Match: marked("SKILL.md")})
		file := filepath.Join(root, "one", "SKILL.md")
		write(t, file, "x")
		until(t, w, file)
		write(t, file, "changed now")
		until(t, w, file)
	})
}

func TestRemovedFolderIsReportedAndItsReturnToo(t *testing.T) {
	both(t, func(t *testing.T, opts watch.Options) {
		root := filepath.Join(tempDir(t), "skills")
		file := filepath.Join(root, "one", "SKILL.md")
		write(t, file, "x")
		w := start(t, opts, watch.Root{Path: root, Depth: 1, Match: marked("SKILL.md")})
		if err := os.RemoveAll(filepath.Join(root, "one")); err != nil {
			t.Fatal(err)
		}
		until(t, w, filepath.Join(root, "one"))
		if err := os.RemoveAll(root); err != nil {
			t.Fatal(err)
		}
		until(t, w, root)
		write(t, file, "x")
		until(t, w, file)
	})
}

func TestFolderReplacedByRenameIsReported(t *testing.T) {
	both(t, func(t *testing.T, opts watch.Options) {
		dir := tempDir(t)
		root := filepath.Join(dir, "skills")
		file := filepath.Join(root, "one", "SKILL.md")
		write(t, file, "old")
		write(t, filepath.Join(dir, "next", "SKILL.md"), "newer text")
		w := start(t, opts, watch.Root{Path: root, Depth: 1, Match: marked("SKILL.md")})
		rename(t, filepath.Join(root, "one"), filepath.Join(dir, "old"))
		rename(t, filepath.Join(dir, "next"), filepath.Join(root, "one"))
		until(t, w, file)
		write(t, file, "live in the new folder")
		until(t, w, file)
	})
}

func TestSingleFileSurvivesReplacement(t *testing.T) {
	both(t, func(t *testing.T, opts watch.Options) {
		dir := tempDir(t)
		file := filepath.Join(dir, "config.json")
		w := start(t, opts, watch.Root{Path: dir, Match: func(p string) bool { return p == file }})
		for i := range 3 {
			write(t, filepath.Join(dir, "other"), fmt.Sprint("noise", i))
			write(t, file+".tmp", strings.Repeat("x", i+1))
			rename(t, file+".tmp", file)
			if ev := next(t, w); !slices.Equal(ev.Paths, []string{file}) {
				t.Fatalf("reported %v, want only %s", ev.Paths, file)
			}
		}
	})
}

func TestChmodIsIgnored(t *testing.T) {
	root := tempDir(t)
	file := filepath.Join(root, "a.md")
	write(t, file, "x")
	w := start(t, watch.Options{Debounce: 50 * time.Millisecond}, watch.Root{Path: root})
	if err := os.Chmod(file, 0o600); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(root, "b.md")
	write(t, other, "x")
	if ev := next(t, w); !slices.Equal(ev.Paths, []string{other}) {
		t.Errorf("reported %v, want only %s", ev.Paths, other)
	}
}

// A build writes 20,000 files below a watched folder: none of its folders gets a watch, and only
// the file that matters is reported.
func TestLargeSubtreeCostsNothing(t *testing.T) {
	root := tempDir(t)
	file := filepath.Join(root, "one", "SKILL.md")
	write(t, file, "old")
	w := start(t, watch.Options{Debounce: 100 * time.Millisecond}, watch.Root{
		Path: root, Depth: 4, Match: marked("SKILL.md"),
		Leaf: func(folder string) bool {
			_, err := os.Stat(filepath.Join(folder, "SKILL.md"))
			return err == nil
		},
	})
	before := watches(t)
	folders := 180
	if testing.Short() {
		folders = 20
	}
	for d := range folders {
		dir := filepath.Join(root, "one", "build", fmt.Sprint(d))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for f := range 100 {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(f)), nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	for f := range 2000 {
		if err := os.WriteFile(filepath.Join(root, "one", fmt.Sprint(f)), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(t, file, "new")
	for ev := next(t, w); !slices.Contains(ev.Paths, file); ev = next(t, w) {
		if len(ev.Paths) > 0 {
			t.Fatalf("reported %v", ev.Paths)
		}
	}
	if after := watches(t); after > before {
		t.Errorf("%d watches became %d", before, after)
	}
}

// watches counts the inotify watches of this process; 0 if that is unknown.
func watches(t *testing.T) int {
	t.Helper()
	infos, _ := filepath.Glob("/proc/self/fdinfo/*")
	n := 0
	for _, f := range infos {
		text, err := os.ReadFile(f)
		if err == nil {
			n += strings.Count(string(text), "inotify wd:")
		}
	}
	return n
}

func TestFoldersOverTheLimitAreSaidOnce(t *testing.T) {
	root := tempDir(t)
	for i := range 30 {
		write(t, filepath.Join(root, fmt.Sprint(i), "SKILL.md"), "x")
	}
	var notices atomic.Int32
	w := start(t, watch.Options{
		Debounce: 50 * time.Millisecond, MaxFolders: 10,
		Notice: func(string) { notices.Add(1) },
	}, watch.Root{Path: root, Depth: 1})
	file := filepath.Join(root, "top.md")
	write(t, file, "x")
	until(t, w, file)
	if n := notices.Load(); n != 1 {
		t.Errorf("said %d times, want once", n)
	}
}

func TestFolderThatGrowsLargeIsPolled(t *testing.T) {
	root := tempDir(t)
	w := start(t, watch.Options{Debounce: 50 * time.Millisecond, Poll: 50 * time.Millisecond, MaxEntries: 20},
		watch.Root{Path: root, Match: marked("SKILL.md")})
	for i := range 100 {
		write(t, filepath.Join(root, fmt.Sprint(i)), "x")
	}
	file := filepath.Join(root, "SKILL.md")
	write(t, file, "x")
	until(t, w, file)
	write(t, file, "and again")
	until(t, w, file)
}

func TestReportsWaitForASlowReceiver(t *testing.T) {
	root := tempDir(t)
	w := start(t, watch.Options{Debounce: 20 * time.Millisecond}, watch.Root{Path: root})
	all := map[string]bool{}
	for i := range 5 {
		file := filepath.Join(root, fmt.Sprint(i))
		write(t, file, "x")
		all[file] = true
	}
	for len(all) > 0 {
		for _, p := range next(t, w).Paths {
			delete(all, p)
		}
	}
}

func TestCloseEndsEverything(t *testing.T) {
	root := tempDir(t)
	w := watch.New(t.Context(), []watch.Root{{Path: root}}, watch.Options{})
	write(t, filepath.Join(root, "a"), "x")
	w.Close()
	w.Close()
	if _, open := <-w.Events(); open {
		t.Error("the channel is still open")
	}
}

func rename(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}
