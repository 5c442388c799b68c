package session_test

import (
	"errors"
	"fmt"
	"testing"

	"jcode/internal/passage"
	"jcode/session"
)

func found(t *testing.T, docs session.Documents, owner, query string) []string {
	t.Helper()
	list, err := docs.Search(t.Context(), []string{owner}, query, 10, nil)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, p := range list {
		out = append(out, fmt.Sprintf("%s:%d %s", p.Path, p.First, p.Heading))
	}
	return out
}

func TestPassagesAreFoundByTheirWordsAndBelongToTheirOwner(t *testing.T) {
	t.Parallel()
	store := open(t)
	docs := store.Documents()
	put := func(owner, path, body string) {
		t.Helper()
		err := docs.Put(t.Context(), owner, session.Document{Path: path, Title: "Handbook", Hash: body}, passage.Split(path, body))
		if err != nil {
			t.Fatal(err)
		}
	}
	put("a", "/docs/one.md", "# Backups\nThe nightly copies run at two.\n\n# Restoring\nAsk for a backup by its date.\n")
	put("a", "/docs/two.md", "# Holidays\n申請は二週間前までに行います。\n")
	put("b", "/docs/three.md", "# Backups elsewhere\nnothing\n")
	for query, want := range map[string][]string{
		"how are the backups done": {"/docs/one.md:1 Backups", "/docs/one.md:4 Restoring"}, // the heading counts more
		"copying at night":         {"/docs/one.md:1 Backups", "/docs/one.md:4 Restoring"}, // copies: the same stem; a backup is a related word
		"二週間":                      {"/docs/two.md:1 Holidays"},
		`"quoted (AND* NEAR`:       nil,
		"the":                      {"/docs/one.md:1 Backups"},
		"":                         nil,
	} {
		if got := found(t, docs, "a", query); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%q: %v, want %v", query, got, want)
		}
	}
	// A new text replaces the whole old one.
	put("a", "/docs/one.md", "# Nothing of that\n")
	if got := found(t, docs, "a", "backups nightly"); got != nil {
		t.Errorf("the old text is still found: %v", got)
	}
	// A document with two owners is deleted with the second one.
	put("b", "/docs/two.md", "# Holidays\n")
	for i, owner := range []string{"a", "b"} {
		if err := docs.Drop(t.Context(), owner, "/docs/two.md"); err != nil {
			t.Fatal(err)
		}
		if _, err := docs.Known(t.Context(), "/docs/two.md"); errors.Is(err, session.ErrNotFound) != (i == 1) {
			t.Errorf("after %s: %v", owner, err)
		}
	}
}

func TestDocumentsOfASessionGoWithItAndAlongWithAFork(t *testing.T) {
	t.Parallel()
	store := open(t)
	docs := store.Documents()
	one, err := store.Create(t.Context(), session.Session{Cwd: "/p", ProjectID: "/p"})
	if err != nil {
		t.Fatal(err)
	}
	owner := session.SessionDocuments(one.ID)
	if err := docs.AddSources(t.Context(), owner, "docs", "*.md", "docs"); err != nil {
		t.Fatal(err)
	}
	if err := docs.Put(t.Context(), owner, session.Document{Path: "/p/a.md", Hash: "h"}, passage.Split("a.md", "# Fruit\npears\n")); err != nil {
		t.Fatal(err)
	}
	list, err := docs.Passages(t.Context(), []int64{1})
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	if err := docs.PutVectors(t.Context(), "m", map[int64][]byte{1: {0, 1}, 99: {1, 1}}); err != nil {
		t.Fatal(err)
	}
	fork, err := store.Fork(t.Context(), one.ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Delete(t.Context(), one.ID); err != nil {
		t.Fatal(err)
	}
	if sources, err := docs.Sources(t.Context(), owner); err != nil || len(sources) != 0 {
		t.Errorf("sources of a deleted session: %v %v", sources, err)
	}
	forked := session.SessionDocuments(fork.ID)
	if sources, err := docs.Sources(t.Context(), forked); err != nil || fmt.Sprint(sources) != "[docs *.md]" {
		t.Errorf("sources of the fork: %v %v", sources, err)
	}
	if got := found(t, docs, forked, "pear"); len(got) != 1 {
		t.Errorf("the fork finds %v", got)
	}
	if err := store.Delete(t.Context(), fork.ID); err != nil {
		t.Fatal(err)
	}
	if left, err := docs.Passages(t.Context(), []int64{1}); err != nil || left != nil {
		t.Errorf("left: %v %v", left, err)
	}
	vectors := 0
	if err := docs.Vectors(t.Context(), []string{owner, forked}, "m", func(int64, []byte) { vectors++ }); err != nil || vectors != 0 {
		t.Errorf("%d vectors left, %v", vectors, err)
	}
}

// BenchmarkDocumentSearch searches 10,000 passages, 50 MB of Markdown.
func BenchmarkDocumentSearch(b *testing.B) {
	docs := open(b).Documents()
	words := []string{"request", "header", "timeout", "server", "client", "buffer", "stream", "value", "error", "retry", "socket", "cache", "index", "token", "branch"}
	seed := uint32(1)
	next := func(n int) int {
		seed = seed*1664525 + 1013904223
		return int(seed>>8) % n
	}
	for f := range 100 {
		var list []passage.Passage
		for i := range 100 {
			body := ""
			for len(body) < 5000 {
				body += words[next(len(words))] + fmt.Sprint(next(3000)) + " "
				body += words[next(len(words))] + " "
			}
			list = append(list, passage.Passage{Heading: fmt.Sprint("Part ", i), First: i, Last: i, Text: body})
		}
		if err := docs.Put(b.Context(), "o", session.Document{Path: fmt.Sprint("/d/", f)}, list); err != nil {
			b.Fatal(err)
		}
	}
	for _, query := range []string{"retry17", "how does the client retry a request after a timeout"} {
		b.Run(fmt.Sprint(len(query)), func(b *testing.B) {
			for b.Loop() {
				if list, err := docs.Search(b.Context(), []string{"o"}, query, 50, nil); err != nil || len(list) == 0 {
					b.Fatal(list, err)
				}
			}
		})
	}
}
