package retrieval_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"jcode/tools/retrieval"
)

// Links that lead back into a folder of documents must not multiply it: every folder is watched once.
func TestLinksBackIntoAFolderOfDocumentsDoNotStopTheChat(t *testing.T) {
	t.Parallel()
	g := newRig(t, func(o *retrieval.Options) { o.Watch = true })
	g.write("notes/deep/a.md", "harbour\n")
	for _, name := range []string{"x", "y", "deep/z"} {
		if err := os.Symlink(filepath.Join(g.dir, "notes"), filepath.Join(g.dir, "notes", filepath.FromSlash(name))); err != nil {
			t.Skipf("cannot make links: %v", err)
		}
	}
	began := time.Now()
	g.add("notes")
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("adding a folder with two links took %v", took)
	}
	if got := g.finds("harbour"); got != "notes/deep/a.md:1" {
		t.Error(got)
	}
	g.write("notes/deep/b.md", "lighthouse\n")
	g.heard("1 indexed") // by the watch
	if got := g.finds("lighthouse"); got != "notes/deep/b.md:1" {
		t.Error(got)
	}
}

// Without a watch, as in a one-shot run, a step and a search look for themselves.
func TestADocumentIsFoundRightAfterItWasWritten(t *testing.T) {
	t.Parallel()
	g := newRig(t, nil)
	g.write("notes/a.md", "# Harbour\n\nharbour\n")
	g.add("notes")
	g.write("notes/b.md", "# Lighthouse\n\nlighthouse\n")
	g.room.Settle(t.Context())
	g.wait()
	if about := g.tool().Spec().Description; !strings.Contains(about, "Lighthouse") {
		t.Errorf("the next step is offered %q", about)
	}
	g.write("notes/c.md", "# Anchor\n\nanchor\n")
	if got := g.finds("anchor"); got != "notes/c.md:1" {
		t.Error(got)
	}
}

// An address that failed is asked for again by a rebuild, not by every step and search.
func TestAnAddressThatFailedIsNotFetchedByEverySearch(t *testing.T) {
	t.Parallel()
	g := newRig(t, nil)
	g.write("a.md", "harbour\n")
	g.add("a.md", "https://example.org/gone")
	g.pages["https://example.org/gone"] = retrieval.Page{Type: "text/plain", Body: []byte("flags\n")}
	if got := g.finds("flags"); got != "" {
		t.Errorf("a search fetched it again: %s", got)
	}
	g.room.Rebuild()
	g.wait()
	if got := g.finds("flags"); got != "https://example.org/gone:1" {
		t.Error(got)
	}
}

func TestDocumentsInOtherEncodingsAreRead(t *testing.T) {
	t.Parallel()
	g := newRig(t, nil)
	g.write("notes/latin.txt", "Le d\xe9ploiement se fait \xe0 midi. Les cl\xe9s sont d\xe9pos\xe9es pr\xe8s de l'entr\xe9e.\n")
	g.write("notes/japan.txt", "\x94z\x94\xf5\x82\xcd\x90\xb3\x8c\xdf\x82\xc9\x8ds\x82\xed\x82\xea\x82\xdc\x82\xb7\x81B lighthouse\n")
	g.write("notes/wide.txt", "s\x00e\x00c\x00r\x00e\x00t\x00 \x00h\x00a\x00r\x00b\x00o\x00u\x00r\x00\n\x00")
	g.write("notes/page.html", "<html><head><meta charset=\"windows-1251\"></head><body><p>\xea\xeb\xfe\xf7 anchor</p></body></html>")
	g.write("notes/binary.txt", "\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x01\x02\x03")
	g.add("notes")
	g.heard("4 not UTF-8")
	for query, want := range map[string]string{
		"déploiement": "notes/latin.txt:1", "lighthouse": "notes/japan.txt:1", "harbour": "notes/wide.txt:1", "ключ": "notes/page.html:1",
	} {
		if got := g.finds(query); got != want {
			t.Errorf("%s: %s", query, got)
		}
	}
	if list := g.list(); !strings.Contains(list, "notes/binary.txt: it is binary, not text") {
		t.Error(list)
	}
}

func TestFoldersThatLieTooDeepAreNamed(t *testing.T) {
	t.Parallel()
	g := newRig(t, nil)
	g.write("notes/a.md", "harbour\n")
	g.write("notes/"+strings.Repeat("d/", 40)+"deep.md", "anchor\n")
	g.add("notes")
	if list := g.list(); !strings.Contains(list, "left out, as they are more than 32 folders deep in it: 1 folder") {
		t.Error(list)
	}
}
