package session_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"jcode/session"
)

func TestSearchFindsWordsInTitlesAndText(t *testing.T) {
	t.Parallel()
	s := open(t)
	a := newSession(t, s, "p")
	say(t, s, a.ID, session.RoleUser, "Fix the Größe parser in foo_bar.go, please")
	say(t, s, a.ID, session.RoleAssistant, "日本語のテキストを直しました。 Also the parser.")
	b := newSession(t, s, "q")
	say(t, s, b.ID, session.RoleUser, "unrelated words")
	if err := s.Rename(t.Context(), b.ID, "Parser work"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		query, project string
		want           []string // "project seq"
	}{
		{"parser", "", []string{"q 0", "p 2", "p 1", "p 0"}},
		{"PARS", "p", []string{"p 2", "p 1", "p 0"}},
		{"pars ", "", nil}, // the trailing space says that the word is complete
		{"grosse", "", nil},
		{"größe", "", []string{"p 1", "p 0"}},
		{"grö", "", []string{"p 1", "p 0"}},
		{"foo_bar.go", "", []string{"p 1", "p 0"}},
		{"本語", "", []string{"p 2"}},
		{"テキスト", "", []string{"p 2"}},
		{"語日", "", nil},
		{"parser fix", "", []string{"p 1", "p 0"}},
		{"work", "", []string{"q 0"}},
		{"", "", nil},
		{"  \t", "", nil},
		{"*", "", nil},
	} {
		hits, err := s.Search(t.Context(), c.query, c.project, 0)
		if err != nil {
			t.Errorf("%q: %v", c.query, err)
		}
		var got []string
		for _, h := range hits {
			got = append(got, fmt.Sprintf("%s %d", h.Session.ProjectID, h.Seq))
			if len(h.Marks) == 0 {
				t.Errorf("%q: nothing is marked in %q", c.query, h.Snippet)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q: got %v, want %v", c.query, got, c.want)
		}
	}
}

func TestSnippetShowsTheWordInItsPlace(t *testing.T) {
	t.Parallel()
	s := open(t)
	v := newSession(t, s, "p")
	say(t, s, v.ID, session.RoleUser, "title")
	say(t, s, v.ID, session.RoleAssistant, strings.Repeat("lorem ipsum\n", 100)+"the \x1b[2Jneedle\there"+strings.Repeat(" dolor", 100))
	hits, err := s.Search(t.Context(), "needl", "p", 0)
	if err != nil || len(hits) != 1 {
		t.Fatal(hits, err)
	}
	h := hits[0]
	if !strings.HasPrefix(h.Snippet, "…") || !strings.HasSuffix(h.Snippet, "…") || strings.ContainsAny(h.Snippet, "\x1b\n\t") || len(h.Snippet) > 200 {
		t.Errorf("snippet %q", h.Snippet)
	}
	if len(h.Marks) != 1 || h.Snippet[h.Marks[0][0]:h.Marks[0][1]] != "needle" {
		t.Errorf("marks %v in %q", h.Marks, h.Snippet)
	}
}

func TestNothingTypedIsASearchError(t *testing.T) {
	t.Parallel()
	s := open(t)
	v := newSession(t, s, "p")
	say(t, s, v.ID, session.RoleUser, `some "text" AND more OR NEAR(x) - body:y ^z * {a} col:`)
	long := strings.Repeat("word ", 1<<18)
	if _, err := s.Search(t.Context(), long, "", 0); err != nil {
		t.Error(err)
	}
	if _, err := s.List(t.Context(), session.Filter{Query: long}); err != nil {
		t.Error(err)
	}
	bits := rapid.SliceOfN(rapid.OneOf(
		rapid.SampledFrom([]string{`"`, `'`, "*", "^", "(", ")", "AND", "OR", "NOT", "NEAR(", "+", "-", ":", "body:", "{", "}", ",", " ", "%", "_", `\`, "\x00", "\xff", ";", "--", "日", "é", "a"}),
		rapid.String(),
	), 0, 6)
	rapid.Check(t, func(rt *rapid.T) {
		query := strings.Join(bits.Draw(rt, "query"), "")
		hits, err := s.Search(t.Context(), query, "", 0)
		if err != nil {
			rt.Fatalf("search %q: %v", query, err)
		}
		for _, h := range hits {
			if !utf8.ValidString(h.Snippet) {
				rt.Fatalf("snippet %q", h.Snippet)
			}
		}
		if _, err := s.List(t.Context(), session.Filter{All: true, Query: query}); err != nil {
			rt.Fatalf("list %q: %v", query, err)
		}
		if _, err := s.Prompts().Search(t.Context(), "", query, 5); err != nil {
			rt.Fatalf("prompts %q: %v", query, err)
		}
	})
}

func TestPickerFindsWordsAcrossMessages(t *testing.T) {
	t.Parallel()
	s := open(t)
	a := newSession(t, s, "p")
	say(t, s, a.ID, session.RoleUser, "alpha first")
	say(t, s, a.ID, session.RoleAssistant, "beta second")
	b := newSession(t, s, "p")
	say(t, s, b.ID, session.RoleUser, "alpha only, 100%")
	other := newSession(t, s, "q")
	say(t, s, other.ID, session.RoleUser, "alpha beta elsewhere")
	for _, c := range []struct {
		query string
		want  []string
	}{
		{"alpha", []string{b.ID, a.ID}},
		{"beta al", []string{a.ID}},
		{"f", []string{a.ID}}, // one letter: titles only
		{"%", []string{b.ID}},
		{"zzz", nil},
		{" ", []string{b.ID, a.ID}},
	} {
		list, err := s.List(t.Context(), session.Filter{ProjectID: "p", Query: c.query})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, v := range list {
			got = append(got, v.ID)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q: got %v, want %v", c.query, got, c.want)
		}
	}
}

func TestDeletedAndRewoundTextIsNotFound(t *testing.T) {
	t.Parallel()
	s := open(t)
	v := newSession(t, s, "p")
	say(t, s, v.ID, session.RoleUser, "first")
	from := say(t, s, v.ID, session.RoleUser, "secret words")
	find := func() int {
		t.Helper()
		hits, err := s.Search(t.Context(), "secret", "", 0)
		if err != nil {
			t.Fatal(err)
		}
		return len(hits)
	}
	if find() != 1 {
		t.Fatal("not found")
	}
	if _, err := s.History().Rewind(t.Context(), v.ID, from); err != nil {
		t.Fatal(err)
	}
	if find() != 0 {
		t.Error("rewound text is found")
	}
	say(t, s, v.ID, session.RoleUser, "secret again")
	if find() != 1 {
		t.Error("new text is not found")
	}
	if err := s.Delete(t.Context(), v.ID); err != nil {
		t.Fatal(err)
	}
	if find() != 0 {
		t.Error("deleted text is found")
	}
}

// BenchmarkPicker searches 5,000 sessions with 20 messages each. The budgets are 100 ms to the
// first screen and 50 ms for a keystroke.
func BenchmarkPicker(b *testing.B) {
	s := open(b)
	vocabulary := strings.Fields(`the parser reads files and writes tests for every package in this module while
		commits change builds tokens quickly streaming errors handle retry server client session model tool call`)
	word := func(i int) string { return vocabulary[i*7919%len(vocabulary)] }
	for i := range 5000 {
		id := newSession(b, s, "p").ID
		for j := range 20 {
			var words []string
			for k := range 30 {
				words = append(words, word(i*31+j*7+k))
			}
			role := session.RoleUser
			if j%2 == 1 {
				role = session.RoleAssistant
			}
			say(b, s, id, role, strings.Join(words, " ")+fmt.Sprintf(" id%d", i*100+j))
		}
	}
	for _, c := range []struct {
		name, query string
		limit       int
	}{
		{"first screen of 50", "", 50},
		{"all", "", 0},
		{"p", "p", 50},
		{"pa", "pa", 50},
		{"parser", "parser", 50},
		{"parser and te", "parser and te", 50},
		{"rare", "id123", 50},
		{"nothing", "zzzz", 50},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := s.List(b.Context(), session.Filter{ProjectID: "p", Query: c.query, Limit: c.limit}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("search", func(b *testing.B) {
		for b.Loop() {
			if _, err := s.Search(b.Context(), "parser tok", "p", 50); err != nil {
				b.Fatal(err)
			}
		}
	})
}
