package notes

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// found returns the notes that a search by words finds.
func found(r *rig, question string, limit int) []Note {
	r.t.Helper()
	list, why := r.Search(r.t.Context(), question, limit)
	if why != "" {
		r.t.Errorf("%s: %s", question, why)
	}
	return list
}

// Two hundred notes, of which every second one is a sentence of the project's pages; a hundred questions.
func TestNineOfTenQuestionsFindTheirNote(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	file, err := os.ReadFile("testdata/questions.txt")
	if err != nil {
		t.Fatal(err)
	}
	topics := map[string]string{}
	answers := map[string]string{} // by question
	for line := range strings.Lines(string(file)) {
		part := strings.Split(strings.TrimSpace(line), " | ")
		topics[part[0]] += "- " + part[1] + "\n"
		answers[part[2]] = part[1]
	}
	topics["pages"] = "- " + strings.Join(sentences(t, 100), "\n- ") + "\n"
	for name, body := range topics {
		path := filepath.Join(r.Folder(Project), name+".md")
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if list, problems := r.List(Project); len(list) != 200 || len(problems) > 0 || len(answers) != 100 {
		t.Fatalf("%d notes, %d questions: %v", len(list), len(answers), problems)
	}
	right := 0
	for question, answer := range answers {
		if slices.ContainsFunc(found(r, question, 5), func(n Note) bool { return n.Text == answer }) {
			right++
		} else {
			t.Logf("not found: %s", question)
		}
	}
	if right < 90 {
		t.Errorf("%d of 100 questions find their note among the first five", right)
	}
}

// sentences returns sentences of the project's pages, from all over them.
func sentences(t *testing.T, n int) (out []string) {
	t.Helper()
	pages, err := filepath.Glob("../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages {
		body, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		of := 0
		for line := range strings.Lines(string(body)) {
			line = strings.TrimSpace(line)
			if end := strings.Index(line, ". "); end > 40 && end < 300 && line[0] >= 'A' && line[0] <= 'Z' && of < 8 && len(out) < n {
				out, of = append(out, line[:end+1]), of+1
			}
		}
	}
	if len(out) < n {
		t.Fatalf("only %d sentences", len(out))
	}
	return out
}

// seas is a model that knows two words for one thing.
type seas struct {
	calls, closed int
	fail          error
}

func (*seas) Model() string { return "test/seas" }

func (m *seas) Close() { m.closed++ }

func (m *seas) Embed(_ context.Context, texts []string) ([][]float32, error) {
	m.calls += len(texts)
	var out [][]float32
	for _, text := range texts {
		v := []float32{0.1, 0, 0}
		for i, group := range [][]string{{"harbour", "marina"}, {"pier", "jetty"}} {
			for _, word := range group {
				if strings.Contains(text, word) {
					v[i+1]++
				}
			}
		}
		out = append(out, v)
	}
	return out, m.fail
}

func TestNotesAreFoundByMeaningWhereThereIsAModel(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	m := &seas{}
	r.opts.Embedder = func() (Embedder, error) { return m, nil }
	for _, text := range []string{"The harbour closes at dusk.", "The pier is for visitors.", "Flags are hoisted at noon."} {
		r.add(New{Text: text, Topic: "port"})
	}
	if list := found(r, "marina", 5); len(list) == 0 || !strings.Contains(list[0].Text, "harbour") {
		t.Errorf("%+v", list)
	}
	before := m.calls
	if list := found(r, "jetty", 5); len(list) == 0 || !strings.Contains(list[0].Text, "pier") {
		t.Errorf("%+v", list)
	}
	if m.calls != before+1 || m.closed != 2 {
		t.Errorf("%d texts were embedded again, closed %d times", m.calls-before-1, m.closed)
	}
	m.fail = errors.New("the server is down")
	list, why := r.Search(t.Context(), "flags", 5)
	if len(list) != 1 || why != "(ranked by words alone: the server is down)" {
		t.Errorf("%+v, %s", list, why)
	}
}
