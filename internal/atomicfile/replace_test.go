package atomicfile_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"jcode/internal/atomicfile"
)

// The number of saves of another program while a file is replaced. To run more:
//
//	JCODE_SAVES=20000 go test ./internal/atomicfile -run TestNoSave
const otherSaves = 120

func folder(t *testing.T, content string) (*os.Root, string) {
	t.Helper()
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	path := filepath.Join(dir, "f")
	put(t, path, content)
	return root, path
}

func put(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o640); err != nil {
		t.Error(err)
	}
}

func holds(t *testing.T, path, want string) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("it holds %q, %v, want %q", got, err, want)
	}
	left, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(left) > 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestReplaceMergesWhatWasSavedMeanwhile(t *testing.T) {
	t.Parallel()
	root, path := folder(t, "saved meanwhile")
	merge := func(found []byte) ([]byte, bool) { return append([]byte("ours and "), found...), true }
	done, err := atomicfile.ReplaceIn(root, "f", atomicfile.Was{Exists: true, Data: []byte("read")}, []byte("ours"), merge, atomicfile.Options{})
	if err != nil || string(done.Found) != "saved meanwhile" || string(done.Written) != "ours and saved meanwhile" {
		t.Errorf("%q, %q, %v", done.Found, done.Written, err)
	}
	holds(t, path, "ours and saved meanwhile")
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestReplaceAndRemoveLeaveAloneWhatCannotBeMerged(t *testing.T) {
	t.Parallel()
	root, path := folder(t, "saved meanwhile")
	var changed *atomicfile.ChangedError
	_, err := atomicfile.ReplaceIn(root, "f", atomicfile.Was{Exists: true, Data: []byte("read")}, []byte("ours"), nil, atomicfile.Options{})
	if !errors.As(err, &changed) || string(changed.Found) != "saved meanwhile" {
		t.Errorf("replaced: %v", err)
	}
	_, err = atomicfile.ReplaceIn(root, "f", atomicfile.Was{}, []byte("ours"), nil, atomicfile.Options{})
	if !errors.As(err, &changed) {
		t.Errorf("made over another file: %v", err)
	}
	if err := atomicfile.RemoveIn(root, "f", []byte("read")); !errors.As(err, &changed) {
		t.Errorf("removed: %v", err)
	}
	holds(t, path, "saved meanwhile")
	if err := atomicfile.RemoveIn(root, "f", []byte("saved meanwhile")); err != nil {
		t.Error(err)
	}
	_, err = atomicfile.ReplaceIn(root, "f", atomicfile.Was{Exists: true, Data: []byte("read")}, []byte("ours"), nil, atomicfile.Options{})
	if !errors.As(err, &changed) || !changed.Gone {
		t.Errorf("a file that is gone: %v", err)
	}
	if _, err = atomicfile.ReplaceIn(root, "f", atomicfile.Was{}, []byte("new"), nil, atomicfile.Options{}); err != nil {
		t.Error(err)
	}
	holds(t, path, "new")
}

// Another program that saves at any moment finds its last save whenever it looks.
func TestNoSaveOfAnotherProgramIsLost(t *testing.T) {
	t.Parallel()
	saves := otherSaves
	if s := os.Getenv("JCODE_SAVES"); s != "" {
		var err error
		if saves, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	for how, save := range map[string]func(path, text string) error{
		"by renaming": func(path, text string) error {
			return errors.Join(os.WriteFile(path+"~", []byte(text), 0o600), os.Rename(path+"~", path))
		},
		"in place": func(path, text string) error { return os.WriteFile(path, []byte(text), 0o600) },
	} {
		t.Run(how, func(t *testing.T) {
			root, path := folder(t, "ours=0\ntheirs=0\n")
			stop := make(chan struct{})
			var wg sync.WaitGroup
			var made atomic.Int64
			wg.Go(func() {
				for n := 1; ; n++ {
					made.Add(1)
					select {
					case <-stop:
						return
					default:
					}
					now, err := os.ReadFile(path)
					if err != nil || !strings.Contains(string(now), "theirs=") {
						continue // the other one is writing it in place
					}
					first, rest, _ := strings.Cut(string(now), "\n")
					merge := func(found []byte) ([]byte, bool) {
						_, rest, ok := strings.Cut(string(found), "\n")
						return fmt.Appendf(nil, "ours=%d\n%s", n, rest), ok && rest != ""
					}
					_, err = atomicfile.ReplaceIn(root, "f", atomicfile.Was{Exists: true, Data: now}, fmt.Appendf(nil, "ours=%d\n%s", n, rest), merge, atomicfile.Options{})
					if changed := (&atomicfile.ChangedError{}); err != nil && !errors.As(err, &changed) {
						t.Error(first, err)
						return
					}
				}
			})
			lost := 0
			for n := 1; n <= saves; n++ {
				now, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				first, _, _ := strings.Cut(string(now), "\n")
				if err := save(path, fmt.Sprintf("%s\ntheirs=%d\n", first, n)); err != nil {
					t.Fatal(err)
				}
				// What was under way then has ended after two more.
				for at := made.Load() + 2; made.Load() < at && !t.Failed(); {
					runtime.Gosched()
				}
				if now, err = os.ReadFile(path); err != nil || !strings.HasSuffix(string(now), fmt.Sprintf("\ntheirs=%d\n", n)) {
					lost++
					t.Logf("save %d: %q, %v", n, now, err)
				}
			}
			close(stop)
			wg.Wait()
			if lost > 0 {
				t.Errorf("%d of %d saves were lost", lost, saves)
			}
		})
	}
}
