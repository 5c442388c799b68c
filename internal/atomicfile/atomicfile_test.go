package atomicfile_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"jcode/internal/atomicfile"
)

func write(t *testing.T, path, data string, mode fs.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(data), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// only checks that dir holds exactly the given names: no temporary file is left.
func only(t *testing.T, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if strings.Join(got, " ") != strings.Join(names, " ") {
		t.Errorf("%s holds %q, want %q", dir, got, names)
	}
}

func TestWriteMakesFileAndParents(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "a", "b", "c.txt")
	if err := atomicfile.Write(path, []byte("x"), atomicfile.Options{Sync: true}); err != nil {
		t.Fatal(err)
	}
	if got := read(t, path); got != "x" {
		t.Errorf("content %q", got)
	}
	only(t, filepath.Dir(path), "c.txt")
}

func TestWriteKeepsModeAndLink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	target, link := filepath.Join(dir, "run.sh"), filepath.Join(dir, "link")
	write(t, target, "old", 0o755)
	if err := os.Symlink("run.sh", link); err != nil {
		t.Skipf("links can't be made here: %v", err)
	}
	if err := atomicfile.Write(link, []byte("new"), atomicfile.Options{}); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v %v", info, err)
	}
	info, err := os.Stat(target)
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" && info.Mode() != 0o755 {
		t.Errorf("mode %v", info.Mode())
	}
	if got := read(t, target); got != "new" {
		t.Errorf("content %q", got)
	}
	only(t, dir, "link", "run.sh")
}

func TestWriteThroughDanglingLinkMakesItsTarget(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	link := filepath.Join(dir, "link")
	if err := os.Symlink("later", link); err != nil {
		t.Skipf("links can't be made here: %v", err)
	}
	if err := atomicfile.Write(link, []byte("x"), atomicfile.Options{}); err != nil {
		t.Fatal(err)
	}
	if got := read(t, filepath.Join(dir, "later")); got != "x" {
		t.Errorf("content %q", got)
	}
}

func TestWriteRefusesReadOnlyFile(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("the superuser may write everything")
	}
	path := filepath.Join(t.TempDir(), "f")
	write(t, path, "old", 0o444)
	err := atomicfile.Write(path, []byte("new"), atomicfile.Options{})
	if !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "read-only") {
		t.Errorf("error %v", err)
	}
	if got := read(t, path); got != "old" {
		t.Errorf("content %q", got)
	}
}

func TestWriteRefusesFoldersAndLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := atomicfile.Write(dir, []byte("x"), atomicfile.Options{}); err == nil {
		t.Error("a folder was written")
	}
	only(t, dir)
}

func TestWriteOfLongName(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name := strings.Repeat("é", 127)
	if err := atomicfile.Write(filepath.Join(dir, name), []byte("x"), atomicfile.Options{}); err != nil {
		t.Fatal(err)
	}
	only(t, dir, name)
}

func TestReadersSeeOldOrNewBytesOnly(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f")
	a, b := bytes.Repeat([]byte("a"), 1<<16), bytes.Repeat([]byte("b"), 1<<16)
	write(t, path, string(a), 0o644)
	var wg sync.WaitGroup
	for _, data := range [][]byte{a, b} {
		wg.Go(func() {
			for range 20 {
				if err := atomicfile.Write(path, data, atomicfile.Options{}); err != nil && runtime.GOOS != "windows" {
					t.Error(err)
				}
			}
		})
	}
	for range 100 {
		got, err := os.ReadFile(path)
		if err == nil && !bytes.Equal(got, a) && !bytes.Equal(got, b) {
			t.Fatal("a reader saw a torn file")
		}
	}
	wg.Wait()
}

func TestNewFileHasTheModeThatTheUmaskGives(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	plain, err := os.OpenFile(filepath.Join(dir, "plain"), os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	if err := plain.Close(); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Write(filepath.Join(dir, "ours"), nil, atomicfile.Options{}); err != nil {
		t.Fatal(err)
	}
	want, _ := os.Stat(filepath.Join(dir, "plain"))
	got, err := os.Stat(filepath.Join(dir, "ours"))
	if err != nil || got.Mode() != want.Mode() {
		t.Errorf("mode %v, want %v (%v)", got.Mode(), want.Mode(), err)
	}
}
