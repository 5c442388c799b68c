package snapshot_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"jcode/internal/snapshot"
)

// rig is a folder with a tree of it.
type rig struct {
	t        *testing.T
	dir      string
	contents *snapshot.Contents
	tree     *snapshot.Tree
}

func options() snapshot.Options {
	return snapshot.Options{
		LeftOut: []string{"node_modules"}, Secret: func(path string) bool { return filepath.Base(path) == ".env" },
		Entries: 1000, MaxFile: 1 << 10,
	}
}

func newRig(t *testing.T) *rig {
	r := &rig{t: t, dir: t.TempDir(), contents: snapshot.NewContents(filepath.Join(t.TempDir(), "c"), 1<<20)}
	r.tree = snapshot.NewTree(r.dir, r.contents, options())
	return r
}

func (r *rig) write(name, content string) {
	r.t.Helper()
	path := filepath.Join(r.dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o644)); err != nil {
		r.t.Fatal(err)
	}
}

// look returns the changes as "path kind→kind", with the reason why a former content is not kept.
func (r *rig) look() (out []string) {
	r.t.Helper()
	changes, err := r.tree.Look(r.t.Context(), 0)
	if err != nil {
		r.t.Fatal(err)
	}
	kind := func(k snapshot.Kind) string {
		if k == snapshot.None {
			return "-"
		}
		return string(rune(k))
	}
	for _, c := range changes {
		rel, err := filepath.Rel(r.dir, c.Path)
		if err != nil {
			r.t.Fatal(err)
		}
		line := filepath.ToSlash(rel) + " " + kind(c.Before.Kind) + kind(c.After.Kind)
		if c.Before.Kind == snapshot.File {
			if data, err := r.contents.Read(c.Before.Hash); err == nil {
				line += " " + string(data)
			} else {
				line += " (" + c.Before.Why + ")"
			}
		}
		out = append(out, line)
	}
	return out
}

func (r *rig) want(want ...string) {
	r.t.Helper()
	if got := r.look(); !slices.Equal(got, want) {
		r.t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if again := r.look(); again != nil {
		r.t.Errorf("a second look finds %q", again)
	}
}

func TestALookTellsWhatChangedAndKeepsWhatWasThere(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("a.txt", "one")
	r.write("sub/b.txt", "two")
	r.write("sub/deep/c.txt", "three")
	r.write("node_modules/x/index.js", "built")
	r.write(".git/config", "theirs")
	r.write(".env", "KEY=1")
	r.write("big", strings.Repeat("x", 2000))
	if err := os.Symlink("a.txt", filepath.Join(r.dir, "link")); err != nil {
		t.Skip(err)
	}
	if got := r.look(); got != nil {
		t.Fatalf("the first look finds %q", got)
	}
	r.want()
	r.write("a.txt", "ONE") // as long as before, perhaps in the same moment
	r.write("new/d.txt", "four")
	r.write(".git/config", "changed")
	r.write(".env", "KEY=2")
	r.write("big", strings.Repeat("y", 2000))
	if err := errors.Join(os.RemoveAll(filepath.Join(r.dir, "sub")), os.Remove(filepath.Join(r.dir, "link")), os.Symlink("big", filepath.Join(r.dir, "link"))); err != nil {
		t.Fatal(err)
	}
	r.want(
		".env ff (a secret is not kept)", "a.txt ff one", "big ff (it is too large to keep)", "link ll", "new -d", "new/d.txt -f",
		"sub d-", "sub/b.txt f- two", "sub/deep d-", "sub/deep/c.txt f- three",
	)
	if err := os.Chmod(filepath.Join(r.dir, "a.txt"), 0o755); err != nil {
		t.Fatal(err)
	}
	r.want("a.txt ff ONE")
	r.write("node_modules/y/index.js", "built again")
	r.want("node_modules xx")
}

func TestAFileThatKeepsItsSizeAndTimeIsSeenToChange(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("a.txt", "one")
	old := time.Now().Add(-time.Hour)
	path := filepath.Join(r.dir, "a.txt")
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
	r.look()
	r.write("a.txt", "two")
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
	r.want("a.txt ff one")
}

func TestWhatWasNotReadInTimeIsNamedOrFilledIn(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for i := range 100 {
		r.write(fmt.Sprintf("f%02d", i), "v1")
	}
	if _, err := r.tree.Look(t.Context(), time.Nanosecond); err != nil {
		t.Fatal(err)
	}
	r.write("f00", "v2")
	r.want("f00 ff (it had not been read before)")
	if err := r.tree.Fill(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.write("f01", "v2")
	r.want("f01 ff v1")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.tree.Look(ctx, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("a look that is cancelled: %v", err)
	}
}

func TestATreeIsKnownAgainAfterItWasSaved(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("a.txt", "one")
	r.write("sub/\xffb", "two")
	r.look()
	file := filepath.Join(t.TempDir(), "trees", "x")
	if err := r.tree.Save(file); err != nil {
		t.Fatal(err)
	}
	again := func() *snapshot.Tree {
		tree := snapshot.NewTree(r.dir, r.contents, options())
		if err := tree.Load(file); err != nil {
			t.Fatal(err)
		}
		return tree
	}
	r.tree = again()
	r.write("a.txt", "changed while nobody looked")
	r.want("a.txt ff one")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for n := range data { // damaged anywhere: as if there were none, or what is left of it; never a panic
		if err := os.WriteFile(file, data[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		if again().Known() {
			t.Errorf("cut after %d bytes it is read", n)
		}
	}
}

func TestContentsHaveALimitAndAreSwept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := snapshot.NewContents(dir, 100)
	kept, err := c.Put([]byte("keep me"))
	if err != nil {
		t.Fatal(err)
	}
	gone, err := c.Put([]byte("nobody needs me"))
	if err != nil {
		t.Fatal(err)
	}
	random := make([]byte, 300)
	for i := range random {
		random[i] = byte(i * i * 7)
	}
	if hash, err := c.Put(random); !errors.Is(err, snapshot.ErrFull) || hash != snapshot.Hash(random) {
		t.Errorf("over the limit: %s %v", hash, err)
	}
	if u := c.Usage(); u.Files != 2 || u.Bytes < 10 || u.Oldest.IsZero() {
		t.Errorf("%+v", u)
	}
	if err := c.Sweep(t.Context(), time.Now().Add(time.Hour), func(hash string) bool { return hash == kept }); err != nil {
		t.Fatal(err)
	}
	if data, err := c.Read(kept); err != nil || string(data) != "keep me" {
		t.Errorf("%q %v", data, err)
	}
	if _, err := c.Read(gone); !errors.Is(err, snapshot.ErrAbsent) {
		t.Errorf("what was swept: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, kept[:2], kept[2:]), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Read(kept); !errors.Is(err, snapshot.ErrAbsent) {
		t.Errorf("a damaged file: %v", err)
	}
	memory := snapshot.NewContents("", 100)
	if hash, err := memory.Put([]byte("in memory")); err != nil || !memory.Has(hash) {
		t.Error(err)
	}
	if _, err := memory.Put(random); !errors.Is(err, snapshot.ErrFull) {
		t.Errorf("memory over the limit: %v", err)
	}
}

// unchanged makes a tree of many files that was read.
func unchanged(b *testing.B, files int) *snapshot.Tree {
	dir := b.TempDir()
	for i := range files {
		if i%100 == 0 {
			if err := os.MkdirAll(filepath.Join(dir, fmt.Sprint(i/10_000), fmt.Sprint(i/100)), 0o755); err != nil {
				b.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i/10_000), fmt.Sprint(i/100), fmt.Sprintf("file%d.go", i)), []byte("x"), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	tree := snapshot.NewTree(dir, snapshot.NewContents(b.TempDir(), 1<<30), snapshot.Options{Entries: 1 << 20, MaxFile: 1 << 20})
	for range 2 { // the second reads what was too new
		if _, err := tree.Look(b.Context(), 0); err != nil {
			b.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond)
	}
	return tree
}

func BenchmarkLookUnchanged(b *testing.B) {
	for _, files := range []int{10_000, 300_000} {
		b.Run(fmt.Sprint(files), func(b *testing.B) {
			if files > 10_000 && testing.Short() {
				b.Skip("it makes many files")
			}
			tree := unchanged(b, files)
			for b.Loop() {
				changes, err := tree.Look(b.Context(), 0)
				if err != nil || len(changes) > 0 {
					b.Fatal(err, len(changes))
				}
			}
		})
	}
}

// What had no room is kept as soon as there is room, and why it had none is said once.
func TestWhatHadNoRoomIsKeptLater(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.contents = snapshot.NewContents(filepath.Join(t.TempDir(), "c"), 200)
	r.tree = snapshot.NewTree(r.dir, r.contents, options())
	other, err := r.contents.Put([]byte(strings.Join([]string{"what", "is", "kept", "for", "another", "folder", "and", "takes", "the", "room", "of", "this", "one", "4711"}, "-")))
	if err != nil {
		t.Fatal(err)
	}
	random := make([]byte, 190)
	for i := range random {
		random[i] = byte(i*i*7 + i)
	}
	r.write("a.bin", string(random))
	wrote := time.Now()
	for early := true; early; { // the last begins when the file's time tells it from a later version
		early = time.Since(wrote) < 50*time.Millisecond
		if _, err := r.tree.Look(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.contents.Fault(); !errors.Is(err, snapshot.ErrFull) || r.contents.Has(snapshot.Hash(random)) {
		t.Fatalf("%v", err)
	}
	if err := r.contents.Fault(); err != nil {
		t.Errorf("it is said again: %v", err)
	}
	if err := r.contents.Sweep(t.Context(), time.Now().Add(time.Hour), func(hash string) bool { return hash != other }); err != nil {
		t.Fatal(err)
	}
	if _, err := r.tree.Look(t.Context(), 0); err != nil || !r.tree.Unread() {
		t.Fatalf("%v: nothing is left to read", err)
	}
	if err := r.tree.Fill(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !r.contents.Has(snapshot.Hash(random)) {
		t.Error("it is not kept though there is room now")
	}
}
