package retrieval_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"jcode/session"
	"jcode/tools/retrieval"
)

// question is asked of the corpus: a passage that answers it lies in a file and has these words.
type question struct {
	text string
	in   []place // any of them is right
}

type place struct{ file, words string }

// Both lists were written before the ranking was, and nothing was tuned at them: twenty other questions served for that.

// literal are questions with the words of the passage.
func literal() []question {
	return []question{
		{"which exit code says that the answer does not fit the output schema", []place{{"docs/scripting.md", "does not fit `--output-schema`, also when asked"}}},
		{"files over 32 MB and secrets by their name are not restored by undo", []place{{"docs/sessions.md", "| files over 32 MB, and secrets by their name"}}},
		{"trust question for a role that names documents outside the project", []place{{"docs/documents.md", "the trust question lists them"}, {"docs/roles.md", "or `documents` outside the project"}, {"docs/security.md", "names documents outside of it in a role"}}},
		{"the embedding model changes its dimension", []place{{"docs/documents.md", "changes its dimension, the old embeddings stay"}}},
		{"SessionStart hook CLAUDE_ENV_FILE variables for later commands", []place{{"docs/hooks.md", "gets the path of a file in `CLAUDE_ENV_FILE`"}}},
		{"Transport MaxIdleConnsPerHost maximum idle connections to keep per host", []place{{"net/http/transport.go", "MaxIdleConnsPerHost, if non-zero"}}},
		{"WaitGroup Add calls with a positive delta must happen before Wait", []place{{"sync/waitgroup.go", "calls with a positive delta that occur when"}}},
		{"reference time used in layouts Mon Jan 2 15:04:05", []place{{"time/format.go", "The reference time used in these layouts"}, {"time/format.go", "what the reference time would look like"}}},
		{"CommandContext kills the process if the context becomes done before the command completes", []place{{"os/exec/exec.go", "if the context becomes done before the command completes"}}},
		{"csv LazyQuotes a quote may appear in an unquoted field", []place{{"encoding/csv/reader.go", "If LazyQuotes is true, a quote may appear"}}},
	}
}

// paraphrased are questions in other words.
func paraphrased() []question {
	return []question{
		{"go back to how the code looked before the agent touched it", []place{{"docs/sessions.md", "undo the file changes of the last turn"}, {"docs/sessions.md", "Undo works without git"}, {"docs/FAQ.md", "restores the files of the last turn"}, {"docs/switching-codex.md", "restores files that tools and commands changed"}, {"docs/switching-crush.md", "restores files that tools and commands changed"}, {"docs/switching-claude-code.md", "restore what commands changed"}}},
		{"two workers edit one source file at the same moment", []place{{"docs/agents.md", "change the same files. If somebody else changed"}}},
		{"talk to it without leaving any traces on my computer", []place{{"docs/sessions.md", "keeps in memory only: no row"}, {"docs/command-line.md", "Keep nothing of the conversation on the disk"}, {"docs/privacy.md", "keep nothing of a conversation"}}},
		{"how do I get rid of the program completely", []place{{"docs/troubleshooting.md", "Remove the program the way it was installed"}, {"docs/install.md", "removing jcode"}}},
		{"never let the assistant push to the remote by itself", []place{{"docs/permissions.md", "`deny` takes precedence over `ask`"}}},
		{"turn off a web server without cutting off users who are still downloading", []place{{"net/http/server.go", "Shutdown gracefully shuts down the server"}}},
		{"make sure initialization happens a single time even when many goroutines start it", []place{{"sync/once.go", "perform exactly one action"}, {"sync/once.go", "if and only if Do is being called for"}, {"sync/oncefunc.go", "invokes f only once"}}},
		{"drop blanks at both ends of a text", []place{{"strings/strings.go", "TrimSpace returns"}, {"bytes/bytes.go", "TrimSpace returns"}}},
		{"look up an element quickly in an ordered list", []place{{"sort/search.go", "Search uses binary search"}, {"slices/sort.go", "BinarySearch searches for target"}}},
		{"give up on a request that takes too long", []place{{"net/http/client.go", "Timeout specifies a time limit for requests"}, {"context/context.go", "WithTimeout returns"}}},
	}
}

// corpusSources are the documents: those of this project, and packages of Go's standard library with their tests.
func corpusSources(t testing.TB) []string {
	t.Helper()
	root, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		t.Skip("there is no go to ask where its standard library is: ", err)
	}
	library := filepath.Join(strings.TrimSpace(string(root)), "src")
	if _, err := os.Stat(filepath.Join(library, "net/http/server.go")); err != nil {
		t.Skip("the source of Go's standard library is not installed: ", err)
	}
	docs, err := filepath.Abs("../../docs")
	if err != nil {
		t.Fatal(err)
	}
	sources := []string{docs}
	for name := range strings.FieldsSeq("archive bufio bytes compress container context database encoding errors expvar flag fmt hash html io iter log maps mime " +
		"net/http net/url net/textproto net/mail os path reflect regexp slices sort strconv strings sync testing text time unicode unique") {
		sources = append(sources, filepath.Join(library, filepath.FromSlash(name)))
	}
	return sources
}

// recalled returns how many questions have a right passage among the first five.
func recalled(t testing.TB, room *retrieval.Room, list []question) (n int) {
	t.Helper()
	for _, q := range list {
		hits, note, err := room.Search(t.Context(), q.text, 5)
		if err != nil || note != "" {
			t.Fatalf("%s: %s %v", q.text, note, err)
		}
		if slices.ContainsFunc(hits, func(h retrieval.Hit) bool { return q.answeredBy(h.Path, h.Text) }) {
			n++
		} else {
			t.Logf("not found: %s", q.text)
		}
	}
	return n
}

func (q question) answeredBy(path, text string) bool {
	for _, p := range q.in {
		if strings.HasSuffix(filepath.ToSlash(path), "/"+p.file) && strings.Contains(text, p.words) {
			return true
		}
	}
	return false
}

// letters embeds texts by how often each three letters occur in them: a weak model.
type letters struct{}

func (letters) Model() string { return "test/letters" }

func (letters) Close() {}

func (letters) Embed(_ context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, text := range texts {
		out[i] = make([]float32, 64)
		text = strings.ToLower(text)
		for j := range max(1, len(text)-2) {
			h := fnv.New32a()
			_, _ = h.Write([]byte(text[j:min(len(text), j+3)]))
			out[i][h.Sum32()%64]++
		}
	}
	return out, nil
}

// oracle knows which passage a question is about: the passage has the question's embedding, and all others have random
// ones. Blind, it knows nothing.
type oracle struct {
	blind bool

	mu    sync.Mutex
	texts []string
}

func (o *oracle) Model() string { return fmt.Sprint("test/oracle-", o.blind) }

func (*oracle) Close() {}

func (o *oracle) Embed(_ context.Context, texts []string) ([][]float32, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	out := make([][]float32, len(texts))
	for i, text := range texts {
		text = strings.Join(strings.Fields(text), " ")
		if len(texts) == embedBatch || len(text) > 300 { // passages, not questions
			o.texts = append(o.texts, text)
		} else if !o.blind {
			text = o.about(text)
		}
		h := fnv.New64a()
		_, _ = h.Write([]byte(text))
		random := rand.New(rand.NewPCG(h.Sum64(), 1))
		out[i] = make([]float32, 64)
		for j := range out[i] {
			out[i][j] = float32(random.NormFloat64())
		}
	}
	return out, nil
}

// embedBatch is how many passages are embedded at once.
const embedBatch = 64

// about returns the passage that a question is about, else the question.
func (o *oracle) about(text string) string {
	words := text
	for _, q := range append(literal(), paraphrased()...) {
		if q.text == text {
			words = q.in[0].words
		}
	}
	for _, t := range o.texts {
		if strings.Contains(t, words) {
			return t
		}
	}
	return text
}

// The corpus has about a thousand files and ten thousand passages. Numbers of questions are out of ten of each kind.
func TestTheRightPassageIsAmongTheFirstFive(t *testing.T) {
	t.Parallel()
	if testing.Short() || raceEnabled {
		t.Skip("it indexes a thousand files")
	}
	sources := corpusSources(t)
	g := newRig(t, nil)
	one, err := g.store.Create(t.Context(), session.Session{Cwd: g.dir, ProjectID: g.dir})
	if err != nil {
		t.Fatal(err)
	}
	if err := g.room.UseSession(t.Context(), one.ID); err != nil {
		t.Fatal(err)
	}
	g.add(sources...)
	docs, err := g.store.Documents().List(t.Context(), session.SessionDocuments(one.ID))
	if err != nil {
		t.Fatal(err)
	}
	passages := 0
	for _, d := range docs {
		passages += d.Passages
	}
	if t.Logf("%d documents, %d passages", len(docs), passages); len(docs) < 900 || passages < 8000 {
		t.Error("the corpus is too small to say anything")
	}
	words := recalled(t, g.room, literal())
	other := recalled(t, g.room, paraphrased())
	if words < 9 || other < 4 {
		t.Errorf("by words alone: %d and %d, at least 9 and 4 are wanted", words, other)
	}
	for _, m := range []struct {
		name                   string
		model                  retrieval.Embedder
		leastWords, leastOther int
	}{
		{"an oracle", &oracle{}, 10, 10},
		{"a weak model", letters{}, words - 1, other - 1},
		{"a model that knows nothing", &oracle{blind: true}, words - 1, other - 1},
	} {
		t.Run(m.name, func(t *testing.T) {
			o := g.opts
			o.Embedder = func() (retrieval.Embedder, error) { return m.model, nil }
			room := retrieval.New(o)
			defer room.Close()
			if err := room.UseSession(t.Context(), one.ID); err != nil {
				t.Fatal(err)
			}
			if err := room.Wait(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			learned, err := g.store.Documents().Weights(t.Context(), []string{session.SessionDocuments(one.ID)}, m.model.Model())
			if err != nil || len(learned) != 1 {
				t.Fatalf("learned: %+v, %v", learned, err)
			}
			t.Logf("weight %.2f", learned[0].Share)
			if words, other := recalled(t, room, literal()), recalled(t, room, paraphrased()); words < m.leastWords || other < m.leastOther {
				t.Errorf("%d and %d, at least %d and %d are wanted", words, other, m.leastWords, m.leastOther)
			}
		})
	}
}
