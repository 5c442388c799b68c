package retrieval_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"jcode/internal/paths"
	"jcode/internal/testkit/eventually"
	"jcode/session"
	"jcode/tools"
	"jcode/tools/retrieval"
)

// rig is a room over a workspace and a real index.
type rig struct {
	t     *testing.T
	dir   string // the workspace
	home  string
	store *session.Store
	opts  retrieval.Options
	room  *retrieval.Room
	pages map[string]retrieval.Page
	deny  map[string]bool

	mu      sync.Mutex
	told    []string
	offered tools.Tool
}

func newRig(t *testing.T, more func(*retrieval.Options)) *rig {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	g := &rig{t: t, dir: filepath.Join(top, "project"), home: filepath.Join(top, "home"), pages: map[string]retrieval.Page{}, deny: map[string]bool{}}
	for _, dir := range []string{g.dir, g.home} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if g.store, err = session.Open(t.Context(), filepath.Join(top, "a.db"), session.Options{}); err != nil {
		t.Fatal(err)
	}
	o := retrieval.Options{
		Index: g.store.Documents(), Root: g.dir, Home: g.home,
		Inside: func(path string) bool { return paths.Within(g.dir, path) },
		Denied: func(path string) string {
			if g.deny[path] {
				return "a rule forbids it"
			}
			return ""
		},
		Fetch: func(_ context.Context, address string) (retrieval.Page, error) {
			page, ok := g.pages[address]
			if !ok {
				return page, errors.New("the server answered 404 Not Found")
			}
			return page, nil
		},
		Notify: func(level, text string) {
			g.mu.Lock()
			defer g.mu.Unlock()
			g.told = append(g.told, level+": "+text)
		},
		Offer: func(tool tools.Tool) {
			g.mu.Lock()
			defer g.mu.Unlock()
			g.offered = tool
		},
	}
	if more != nil {
		more(&o)
	}
	g.opts = o
	g.room = retrieval.New(o)
	t.Cleanup(func() {
		g.room.Close()
		if err := g.store.Close(); err != nil {
			t.Error(err)
		}
	})
	return g
}

func (g *rig) write(name, body string) string {
	g.t.Helper()
	path := name
	if !filepath.IsAbs(name) {
		path = filepath.Join(g.dir, name)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		g.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(body), 0o600); err != nil {
		g.t.Fatal(err)
	}
	return path
}

func (g *rig) add(sources ...string) {
	g.t.Helper()
	if err := g.room.Add(g.t.Context(), sources...); err != nil {
		g.t.Fatal(err)
	}
	g.wait()
}

func (g *rig) wait() {
	g.t.Helper()
	ctx, cancel := context.WithTimeout(g.t.Context(), time.Minute)
	defer cancel()
	if err := g.room.Wait(ctx, nil); err != nil {
		g.t.Fatal(err)
	}
}

func (g *rig) finds(query string) string {
	g.t.Helper()
	hits, note, err := g.room.Search(g.t.Context(), query, 0)
	if err != nil {
		return "error: " + err.Error()
	}
	var out []string
	for _, h := range hits {
		line := fmt.Sprintf("%s:%d", h.Path, h.First)
		if h.Note != "" {
			line += " [" + h.Note + "]"
		}
		out = append(out, line)
	}
	if note != "" {
		out = append(out, note)
	}
	return strings.Join(out, ", ")
}

func (g *rig) list() string {
	g.t.Helper()
	out, err := g.room.Describe(g.t.Context())
	if err != nil {
		g.t.Fatal(err)
	}
	return out
}

func (g *rig) heard(want string) {
	g.t.Helper()
	g.mu.Lock()
	defer g.mu.Unlock()
	if !strings.Contains(strings.Join(g.told, "\n"), want) {
		g.t.Errorf("told %q, not %q", g.told, want)
	}
}

func (g *rig) tool() tools.Tool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.offered
}

func TestAllFormsOfDocumentsAreFound(t *testing.T) {
	t.Parallel()
	g := newRig(t, nil)
	g.write("docs/guide.md", "# Guide\n\n## Deploying\nPush to the harbour.\n")
	g.write("docs/page.html", "<html><title>Rules</title><body><h1>Rules</h1><script>var anchor</script><p>Never weigh the anchor at night.</p></body></html>")
	g.write("docs/note.txt", "The lighthouse is lit at dusk.\n")
	g.write("docs/code.go", "package a\n\n// Moor ties a ship.\nfunc Moor() {}\n")
	g.write("docs/utf16.txt", "\xff\xfek\x00e\x00e\x00l\x00")
	g.write("docs/picture.png", "\x89PNG\x00")
	g.write("docs/ignored.md", "harbour\n")
	g.write("docs/.gitignore", "ignored.md\n")
	g.write("elsewhere.md", "harbour\n")
	pdf, err := os.ReadFile("../../internal/pdftext/testdata/rc4-40.pdf")
	if err != nil {
		t.Fatal(err)
	}
	g.write("docs/book.pdf", string(pdf))
	g.pages["https://example.org/api"] = retrieval.Page{Type: "text/html", Body: []byte("<h1>Signals</h1><p>Flags are hoisted at noon.</p>")}
	g.add("docs", "https://example.org/api")
	for query, want := range map[string]string{
		"harbour":    "docs/guide.md:3",
		"anchor":     "docs/page.html:1",
		"lighthouse": "docs/note.txt:1",
		"moor":       "docs/code.go:3",
		"keel":       "docs/utf16.txt:1",
		"sealed":     "docs/book.pdf:1",
		"flags":      "https://example.org/api:1",
		"zebra":      "",
	} {
		if got := g.finds(query); got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
	if g.tool() == nil || !strings.Contains(g.tool().Spec().Description, "Guide (docs/guide.md)") {
		t.Errorf("offered: %+v", g.tool())
	}
}

func TestAGlobAndAFileOfAnyEndingAreTaken(t *testing.T) {
	t.Parallel()
	g := newRig(t, nil)
	g.write("a/deep/er/one.conf", "alpha\n")
	g.write("a/two.md", "alpha\n")
	g.write("odd[1].md", "beta\n")
	g.add("a/**/*.conf", "odd[1].md")
	if got := g.finds("alpha beta"); got != "a/deep/er/one.conf:1, odd[1].md:1" && got != "odd[1].md:1, a/deep/er/one.conf:1" {
		t.Error(got)
	}
	for source, want := range map[string]string{
		"b/*.md": "there is nothing to read", "gone.md": "there is no such file", "a/[": "not a valid glob",
	} {
		if err := g.room.Add(t.Context(), source); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", source, err)
		}
	}
}

func TestABrokenDocumentCostsItselfAlone(t *testing.T) {
	t.Parallel()
	g := newRig(t, nil)
	g.write("d/good.md", "harbour\n")
	g.write("d/binary.txt", "a\x00b")
	g.write("d/bad.pdf", "%PDF-1.4\nnothing")
	huge := g.write("d/huge.txt", "")
	if err := os.Truncate(huge, 2<<30); err != nil {
		t.Fatal(err)
	}
	denied := g.write("d/secret.md", "harbour secret\n")
	g.deny[denied] = true
	g.add("d")
	if got := g.finds("harbour"); got != "d/good.md:1" {
		t.Error(got)
	}
	list := g.list()
	for _, want := range []string{
		"d/binary.txt: it is binary", "d/bad.pdf: ", "d/huge.txt: it has 2048 MB, at most 32 are read", "d/secret.md: it may not be read: a rule forbids it", "d/good.md, 1 passage", "5 documents, 1 passage, 4 with a problem",
	} {
		if !strings.Contains(list, want) {
			t.Errorf("%q is not in\n%s", want, list)
		}
	}
	g.heard("warn: documents of this session: 1 indexed, 4 not read: d/bad.pdf: ")
}

func TestALinkOutOfTheWorkspaceIsNotRead(t *testing.T) {
	t.Parallel()
	g := newRig(t, nil)
	secret := g.write(filepath.Join(g.home, "secret.md"), "treasure\n")
	if err := os.Symlink(secret, filepath.Join(g.dir, "link.md")); err != nil {
		t.Skip(err)
	}
	if err := os.Symlink(g.home, filepath.Join(g.dir, "folder")); err != nil {
		t.Skip(err)
	}
	g.write("real.md", "harbour\n")
	for _, source := range []string{"link.md", "folder", "folder/*.md", "folder/secret.md"} {
		if err := g.room.Add(t.Context(), source); err == nil {
			t.Errorf("%s was added", source)
		}
	}
	// Neither can a role read it, nor does a walk reach it.
	g.room.UseRole(retrieval.Collection{Owner: "role:p:r", Name: "role r", Sources: []string{"link.md", "folder/**", "**/*.md", "."}})
	g.wait()
	if got := g.finds("treasure"); got != "" {
		t.Error(got)
	}
	if got := g.finds("harbour"); got != "real.md:1" {
		t.Error(got)
	}
	// A path that names a place outside is different: who may name it is decided elsewhere.
	g.add("~/secret.md")
	if got := g.finds("treasure"); got != secret+":1" {
		t.Error(got)
	}
}

func TestTheIndexFollowsTheFiles(t *testing.T) {
	t.Parallel()
	g := newRig(t, func(o *retrieval.Options) { o.Watch = true })
	g.write("docs/a.md", "harbour\n")
	g.add("docs")
	until := func(query, want string) {
		t.Helper()
		got := ""
		eventually.True(t, query+" finds "+want, func() bool { got = g.finds(query); return got == want }, func() string { return got })
	}
	g.write("docs/new/b.md", "anchor\n")
	until("anchor", "docs/new/b.md:1")
	g.write("docs/a.md", "lighthouse\n")
	until("lighthouse", "docs/a.md:1")
	until("harbour", "")
	if err := os.Remove(filepath.Join(g.dir, "docs/a.md")); err != nil {
		t.Fatal(err)
	}
	until("lighthouse", "")
}

func TestAFileThatVanishedIsFoundWithANote(t *testing.T) {
	t.Parallel()
	g := newRig(t, nil)
	path := g.write("a.md", "harbour\n")
	g.add("a.md")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	g.room.Rebuild()
	g.wait()
	if got := g.finds("harbour"); got != "a.md:1 [the file is gone: this is its last text]" {
		t.Error(got)
	}
	g.write("a.md", "lighthouse\n")
	g.room.Rebuild()
	g.wait()
	if got := g.finds("harbour lighthouse"); got != "a.md:1" {
		t.Error(got)
	}
}

func TestDocumentsOfARoleGoWithIt(t *testing.T) {
	t.Parallel()
	g := newRig(t, nil)
	g.write("a.md", "harbour of the role\n")
	g.write("b.md", "harbour of the session\n")
	// What is added before the first message belongs to the session.
	g.add("b.md")
	one, err := g.store.Create(t.Context(), session.Session{Cwd: g.dir, ProjectID: g.dir})
	if err != nil {
		t.Fatal(err)
	}
	if err := g.room.UseSession(t.Context(), one.ID); err != nil {
		t.Fatal(err)
	}
	g.room.UseRole(retrieval.Collection{Owner: "role:p:r", Name: "role r", Sources: []string{"a.md"}})
	g.wait()
	if got := g.finds("role"); got != "a.md:1" {
		t.Error(got)
	}
	if got := g.finds("session"); got != "b.md:1" {
		t.Error(got)
	}
	g.room.UseRole(retrieval.Collection{})
	if got := g.finds("role"); got != "" {
		t.Error(got)
	}
	// Documents of a sub-agent's role are dropped with the session in which it worked.
	g.room.Also(retrieval.Collection{Owner: "role:p:r", Name: "role r", Sources: []string{"a.md"}})
	g.wait()
	if got := g.finds("role"); got != "a.md:1" {
		t.Error(got)
	}
	// The other session has none, so the tool is removed.
	g.room.NewSession()
	if got := g.finds("session"); !strings.Contains(got, "there are no documents") || g.tool() != nil {
		t.Error(got, g.tool())
	}
	if err := g.room.UseSession(t.Context(), one.ID); err != nil {
		t.Fatal(err)
	}
	g.wait()
	if got := g.finds("session"); got != "b.md:1" || g.tool() == nil {
		t.Error(got)
	}
	if err := g.room.Remove(t.Context(), "b.md"); err != nil {
		t.Fatal(err)
	}
	g.wait()
	if docs, err := g.store.Documents().List(t.Context(), session.SessionDocuments(one.ID)); err != nil || docs != nil {
		t.Errorf("%v %v", docs, err)
	}
	if err := g.room.Remove(t.Context(), "b.md"); err == nil || !strings.Contains(err.Error(), "was not added") {
		t.Error(err)
	}
}

func TestWhatIsDeniedLaterIsNotReturned(t *testing.T) {
	t.Parallel()
	g := newRig(t, nil)
	path := g.write("a.md", "harbour\n")
	g.add("a.md")
	g.deny[path] = true
	if got := g.finds("harbour"); got != "" {
		t.Error(got)
	}
}

// wordModel embeds texts by which of a few words they contain; synonyms share a dimension.
type wordModel struct {
	mu     sync.Mutex
	calls  int
	fail   func(call int) error
	length int
	closed bool
}

func (m *wordModel) Model() string { return "test/words" }

func (m *wordModel) Close() { m.closed = true }

func (m *wordModel) Embed(_ context.Context, texts []string) ([][]float32, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls++
	if m.fail != nil {
		if err := m.fail(m.calls); err != nil {
			return nil, err
		}
	}
	var out [][]float32
	for _, text := range texts {
		v := make([]float32, m.length)
		v[0] = 0.1
		for i, group := range [][]string{{"harbour", "port"}, {"anchor", "mooring"}, {"ship", "vessel"}, {"blick", "dax"}} {
			for _, word := range group {
				if i+1 < m.length && strings.Contains(text, word) {
					v[i+1]++
				}
			}
		}
		out = append(out, v)
	}
	return out, nil
}

func TestPassagesAreFoundByMeaningToo(t *testing.T) {
	t.Parallel()
	m := &wordModel{length: 4}
	g := newRig(t, func(o *retrieval.Options) {
		o.Embedder = func() (retrieval.Embedder, error) { return m, nil }
	})
	g.write("a.md", "The harbour is closed.\n")
	g.write("b.md", "Every vessel has a name.\n")
	g.write("c.md", "An anchor is heavy.\n")
	g.add("a.md", "b.md", "c.md")
	if got := g.finds("port"); !strings.HasPrefix(got, "a.md:1") {
		t.Error(got)
	}
	if got := g.finds("mooring"); !strings.HasPrefix(got, "c.md:1") {
		t.Error(got)
	}
	if list := g.list(); !strings.Contains(list, "3 with an embedding of test/words") {
		t.Error(list)
	}
	// An unreachable model is reported, and passages are still found by their words.
	m.mu.Lock()
	m.fail = func(int) error { return errors.New("the server is down") }
	m.mu.Unlock()
	if got := g.finds("harbour"); got != "a.md:1, (ranked by words alone: the server is down)" {
		t.Error(got)
	}
}

func TestAnEmbeddingModelThatFailsLeavesTheIndexUsable(t *testing.T) {
	t.Parallel()
	m := &wordModel{length: 4}
	m.fail = func(call int) error {
		if call == 2 {
			return errors.New("the quota is used up")
		}
		return nil
	}
	g := newRig(t, func(o *retrieval.Options) {
		o.Embedder = func() (retrieval.Embedder, error) { return m, nil }
	})
	for i := range 100 { // two batches
		g.write(fmt.Sprintf("d/%03d.md", i), fmt.Sprintf("The harbour number%d is closed.\n", i))
	}
	g.add("d")
	g.heard("the quota is used up")
	if list := g.list(); !strings.Contains(list, "100 passages, 64 with an embedding") {
		t.Error(list)
	}
	if got := g.finds("number99"); !strings.HasPrefix(got, "d/099.md:1") {
		t.Error(got)
	}
	// The next run computes only the embeddings that are missing.
	m.mu.Lock()
	m.fail = nil
	before := m.calls
	m.mu.Unlock()
	g.write("d/new.md", "port\n")
	g.room.Rebuild()
	g.wait()
	if list := g.list(); !strings.Contains(list, "101 passages, 101 with an embedding") {
		t.Error(list)
	}
	if m.calls <= before {
		t.Error("nothing was embedded")
	}
	// A change of dimension is refused; existing embeddings are kept.
	m.mu.Lock()
	m.length = 5
	m.mu.Unlock()
	g.write("d/newer.md", "anchor\n")
	g.add("d/newer.md")
	g.heard("changed its dimension from 4 to 5")
	if list := g.list(); !strings.Contains(list, "102 passages, 101 with an embedding") {
		t.Error(list)
	}
	g.room.Rebuild()
	g.wait()
	if list := g.list(); !strings.Contains(list, "102 passages, 102 with an embedding") {
		t.Error(list)
	}
	if got := g.finds("mooring"); !strings.HasPrefix(got, "d/newer.md:1") {
		t.Error(got)
	}
	if g.room.Close(); !m.closed {
		t.Error("the model's connections stay open")
	}
}

func TestIndexingIsStoppedAndGoesOn(t *testing.T) {
	t.Parallel()
	entered, leave := make(chan struct{}), make(chan struct{})
	var once sync.Once
	g := newRig(t, func(o *retrieval.Options) {
		fetch := o.Fetch
		o.Fetch = func(ctx context.Context, address string) (retrieval.Page, error) {
			once.Do(func() { close(entered) })
			select {
			case <-ctx.Done():
				return retrieval.Page{}, ctx.Err()
			case <-leave:
			}
			return fetch(ctx, address)
		}
	})
	g.pages["https://example.org/"] = retrieval.Page{Type: "text/plain", Body: []byte("flags")}
	g.write("a.md", "harbour\n")
	if err := g.room.Add(t.Context(), "a.md", "https://example.org/"); err != nil {
		t.Fatal(err)
	}
	<-entered
	g.room.Stop()
	g.wait()
	if got := g.finds("harbour"); got != "a.md:1" {
		t.Error(got)
	}
	if list := g.list(); !strings.Contains(list, "indexing was stopped") {
		t.Error(list)
	}
	close(leave)
	g.room.Rebuild()
	g.wait()
	if got := g.finds("flags"); got != "https://example.org/:1" {
		t.Error(got)
	}
}

// The tool's description of the documents is part of every request: it should be complete from the first one on.
func TestTheToolNamesAllDocumentsOnceAFirstIndexIsThere(t *testing.T) {
	g := newRig(t, nil)
	var sources []string
	for i := range 40 {
		name := fmt.Sprintf("notes/%02d.md", i)
		g.write(name, fmt.Sprintf("# Note %d\n\nThe word is word%d.\n", i, i))
		sources = append(sources, name)
	}
	g.room.UseRole(retrieval.Collection{Owner: "role:notes", Name: "role notes", Sources: sources})
	eventually.True(t, "the tool names the documents", func() bool {
		g.room.Settle(t.Context()) // it waits briefly for a collection that is new to it
		about := g.tool().Spec().Description
		whole := strings.Contains(about, "40 documents: Note 0 (notes/00.md)")
		switch being := strings.Contains(about, "being indexed"); {
		case whole && being:
			t.Errorf("it is whole: %s", about)
		case !whole && !being:
			t.Fatalf("a part of the documents is shown as all: %s", about)
		}
		return whole
	})
}

// What another process indexed meanwhile is found by its embedding, and with nothing changed a search asks the model
// for its question alone.
func TestWhatAnotherProcessIndexedIsFoundByMeaning(t *testing.T) {
	t.Parallel()
	m := &wordModel{length: 5}
	g := newRig(t, func(o *retrieval.Options) {
		o.Embedder = func() (retrieval.Embedder, error) { return m, nil }
	})
	one, err := g.store.Create(t.Context(), session.Session{Cwd: g.dir, ProjectID: g.dir})
	if err != nil {
		t.Fatal(err)
	}
	if err := g.room.UseSession(t.Context(), one.ID); err != nil {
		t.Fatal(err)
	}
	g.write("a.md", "The harbour is closed.\n")
	g.write("b.md", "The port is open.\n")
	g.write("c.md", "Nothing of that.\n")
	g.add("a.md", "b.md", "c.md")
	if got := g.finds("dax"); !strings.HasPrefix(got, "c.md:1") {
		t.Error(got)
	}
	g.write("b.md", "A blick is heavy.\n")
	other := retrieval.New(g.opts)
	defer other.Close()
	if err := other.UseSession(t.Context(), one.ID); err != nil {
		t.Fatal(err)
	}
	if err := other.Wait(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if got := g.finds("dax"); !strings.HasPrefix(got, "b.md:1") {
		t.Errorf("the embedding that the other process made is not used: %s", got)
	}
	asked := func() int {
		m.mu.Lock()
		defer m.mu.Unlock()
		return m.calls
	}
	before := asked()
	g.finds("dax")
	if n := asked() - before; n != 1 {
		t.Errorf("a search with nothing changed asked the model %d times", n)
	}
}
