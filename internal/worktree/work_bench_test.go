package worktree_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"jcode/internal/worktree"
)

// The cost of finding one changed file among very many; git status of the same copy is what it is compared with.
func BenchmarkWorkOfOneFile(b *testing.B) {
	root := largeRepository(b, 30_000)
	tree, err := worktree.Add(b.Context(), worktree.Options{Root: root, Dir: filepath.Join(b.TempDir(), "copies", "x"), Branch: "jcode/x"})
	if err != nil {
		b.Fatal(err)
	}
	write(b, tree.Dir, "0/f7.txt", "changed\n")
	b.Run("work", func(b *testing.B) {
		for b.Loop() {
			if work, err := tree.Work(b.Context()); err != nil || len(work.Changes) != 1 {
				b.Fatal(err, len(work.Changes))
			}
		}
	})
	b.Run("git-status", func(b *testing.B) {
		for b.Loop() {
			run(b, tree.Dir, "status", "--porcelain")
		}
	})
}

func largeRepository(b *testing.B, files int) string {
	root := b.TempDir()
	run(b, root, "init", "-q", "-b", "main")
	for i := range files {
		write(b, root, fmt.Sprintf("%d/f%d.txt", i/100, i), fmt.Sprintln(i))
	}
	run(b, root, "add", ".")
	run(b, root, "commit", "-q", "-m", "first")
	return root
}
