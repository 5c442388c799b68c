package session_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"jcode/session"
)

func TestForkLeavesTheParentAlone(t *testing.T) {
	t.Parallel()
	s := open(t)
	parent := newSession(t, s, "p")
	say(t, s, parent.ID, session.RoleUser, "first prompt")
	seq := say(t, s, parent.ID, session.RoleAssistant, "answer", session.Call{ID: "c", Name: "read", Arguments: "{}"})
	if err := s.History().FinishCall(t.Context(), session.Call{Session: parent.ID, Seq: seq, Status: session.StatusDone, Result: "r"}); err != nil {
		t.Fatal(err)
	}
	say(t, s, parent.ID, session.RoleUser, "second")
	if err := s.Todos().Set(t.Context(), parent.ID, json.RawMessage(`[1]`)); err != nil {
		t.Fatal(err)
	}

	fork, err := s.Fork(t.Context(), parent.ID, 2)
	if err != nil {
		t.Fatal(err)
	}
	if fork.ParentID != parent.ID || fork.ForkSeq != 2 || fork.Messages != 2 || fork.Title != "first prompt" || fork.Cwd != parent.Cwd || fork.ID == parent.ID {
		t.Errorf("fork %+v", fork)
	}
	say(t, s, fork.ID, session.RoleUser, "fork goes on")
	say(t, s, parent.ID, session.RoleUser, "parent goes on")
	words := func(id string) (all []string) {
		for i, m := range history(t, s, id) {
			all = append(all, m.Text())
			if m.Seq != int64(i+1) || m.Session != id {
				t.Errorf("message %+v", m)
			}
			for _, c := range m.Calls {
				if c.Result != "r" || c.Session != id || c.Status != session.StatusDone {
					t.Errorf("call %+v", c)
				}
			}
		}
		return all
	}
	if got := words(parent.ID); !slices.Equal(got, []string{"first prompt", "answer", "second", "parent goes on"}) {
		t.Errorf("parent has %q", got)
	}
	if got := words(fork.ID); !slices.Equal(got, []string{"first prompt", "answer", "fork goes on"}) {
		t.Errorf("fork has %q", got)
	}
	if todo, err := s.Todos().Get(t.Context(), fork.ID); err != nil || todo != nil {
		t.Errorf("plan of a fork in the middle: %s, %v", todo, err)
	}
	whole, err := s.Fork(t.Context(), parent.ID, 0)
	if err != nil || whole.Messages != 4 {
		t.Errorf("%+v, %v", whole, err)
	}
	if todo, err := s.Todos().Get(t.Context(), whole.ID); err != nil || string(todo) != "[1]" {
		t.Errorf("plan of a whole fork: %s, %v", todo, err)
	}
	if hits, err := s.Search(t.Context(), "answer", "p", 0); err != nil || len(hits) != 3 {
		t.Errorf("%d hits, %v", len(hits), err)
	}
	if _, err := s.Fork(t.Context(), "none", 0); !errors.Is(err, session.ErrNotFound) {
		t.Error(err)
	}
}

func TestForkBeforeACompactionHasTheMessagesAlive(t *testing.T) {
	t.Parallel()
	s := open(t)
	v := newSession(t, s, "p")
	for i := range 4 {
		say(t, s, v.ID, session.RoleUser, fmt.Sprint(i))
	}
	seq, err := s.History().Compact(t.Context(), session.Message{Session: v.ID, Parts: text("short")}, 3)
	if err != nil || seq != 5 {
		t.Fatal(seq, err)
	}
	archived := func(id string) (all []int64) {
		for _, m := range history(t, s, id) {
			all = append(all, m.Archived)
		}
		return all
	}
	if got := archived(v.ID); !slices.Equal(got, []int64{5, 5, 5, 0, 0}) {
		t.Errorf("archived by %v", got)
	}
	before, err := s.Fork(t.Context(), v.ID, 4)
	if err != nil {
		t.Fatal(err)
	}
	if got := archived(before.ID); !slices.Equal(got, []int64{0, 0, 0, 0}) {
		t.Errorf("fork before: archived by %v", got)
	}
	after, err := s.Fork(t.Context(), v.ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := archived(after.ID); !slices.Equal(got, []int64{5, 5, 5, 0, 0}) {
		t.Errorf("fork after: archived by %v", got)
	}
	// A rewind over the summary restores what it replaced.
	if n, err := s.History().Rewind(t.Context(), v.ID, 4); err != nil || n != 2 {
		t.Fatal(n, err)
	}
	if got := archived(v.ID); !slices.Equal(got, []int64{0, 0, 0}) {
		t.Errorf("rewound: archived by %v", got)
	}
	if next := say(t, s, v.ID, session.RoleUser, "again"); next != 6 {
		t.Errorf("seq %d is used again", next)
	}
}

func TestPersonsTitleIsNeverReplaced(t *testing.T) {
	t.Parallel()
	s := open(t)
	v := newSession(t, s, "p")
	title := func() string {
		t.Helper()
		got, err := s.Get(t.Context(), v.ID)
		if err != nil {
			t.Fatal(err)
		}
		return got.TitleSource + ":" + got.Title
	}
	say(t, s, v.ID, session.RoleUser, "\n  ```\nfirst\tline \x1b[31mred\nsecond")
	if got := title(); got != "auto:first line red" {
		t.Error(got)
	}
	if done, err := s.SetAutoTitle(t.Context(), v.ID, "Better"); err != nil || !done || title() != "auto:Better" {
		t.Error(done, err, title())
	}
	if err := s.Rename(t.Context(), v.ID, "Mine"); err != nil || title() != "user:Mine" {
		t.Error(err, title())
	}
	if done, err := s.SetAutoTitle(t.Context(), v.ID, "Worse"); err != nil || done || title() != "user:Mine" {
		t.Error(done, err, title())
	}
	if err := s.Rename(t.Context(), v.ID, " \n"); err == nil {
		t.Error("an empty title was accepted")
	}
	if err := s.Rename(t.Context(), "none", "x"); !errors.Is(err, session.ErrNotFound) {
		t.Error(err)
	}
}

func TestShortTitleIsOneShortLine(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		in := rapid.OneOf(rapid.String(), rapid.StringMatching("(漢|a|\n|\x1b\\[3m| |é){0,300}")).Draw(rt, "text")
		got := session.ShortTitle(in)
		if strings.ContainsAny(got, "\n\r\t\x1b\x00") || !utf8.ValidString(got) || got != strings.TrimSpace(got) || utf8.RuneCountInString(got) > 400 {
			rt.Fatalf("%q: got %q", in, got)
		}
		if again := session.ShortTitle(got); again != got {
			rt.Fatalf("%q becomes %q", got, again)
		}
	})
	if got := session.ShortTitle(strings.Repeat("漢", 1<<20)); got != strings.Repeat("漢", 39)+"…" {
		t.Errorf("got %q", got)
	}
}

func TestSubAgentsAreListedUnderTheirParentAndItsCost(t *testing.T) {
	t.Parallel()
	s := open(t)
	parent := newSession(t, s, "p")
	child, err := s.Create(t.Context(), session.Session{ProjectID: "p", ParentID: parent.ID, Kind: session.KindTask})
	if err != nil {
		t.Fatal(err)
	}
	grand, err := s.Create(t.Context(), session.Session{ProjectID: "p", ParentID: child.ID, Kind: session.KindTask})
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{parent.ID, child.ID, grand.ID} {
		if _, err := s.History().Append(t.Context(), session.Message{Session: id, Role: session.RoleAssistant, Parts: text("x"), Usage: &session.Usage{Input: 10, Output: 2, Cached: 1, Cost: 0.5}}); err != nil {
			t.Fatal(err)
		}
	}
	for id, want := range map[string]int64{parent.ID: 30, child.ID: 20, grand.ID: 10} {
		v, err := s.Get(t.Context(), id)
		if err != nil || v.InputTokens != want || v.Cost != float64(want)/20 || v.OutputTokens != want/5 || v.CachedTokens != want/10 {
			t.Errorf("%+v, %v", v, err)
		}
	}
	count := func(f session.Filter) int {
		t.Helper()
		all, err := s.List(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	if n := count(session.Filter{ProjectID: "p"}); n != 1 {
		t.Errorf("%d ordinary sessions", n)
	}
	if n := count(session.Filter{All: true, Kind: session.KindTask, ParentID: parent.ID}); n != 1 {
		t.Errorf("%d tasks", n)
	}
	if n := count(session.Filter{All: true, Kind: session.KindAny}); n != 3 {
		t.Errorf("%d sessions", n)
	}
	if err := s.Delete(t.Context(), parent.ID); err != nil {
		t.Fatal(err)
	}
	if n := count(session.Filter{All: true, Kind: session.KindAny}); n != 0 {
		t.Errorf("%d sessions after deletion", n)
	}
}

func TestListIsNewestFirstAndFiltered(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1_700_000_000_000)
	s, err := session.Open(t.Context(), filepath.Join(t.TempDir(), "jcode.db"), session.Options{Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	var ids []string
	for i := range 5 {
		now = now.Add(time.Second)
		v, err := s.Create(t.Context(), session.Session{ProjectID: []string{"p", "q"}[i%2], Title: fmt.Sprintf("session %d", i)})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, v.ID)
	}
	now = now.Add(time.Second)
	say(t, s, ids[0], session.RoleUser, "used again")
	yes, mode := true, "plan"
	if err := s.Update(t.Context(), ids[2], session.Change{Archived: &yes, Mode: &mode}); err != nil {
		t.Fatal(err)
	}
	if err := s.Update(t.Context(), "none", session.Change{Archived: &yes}); !errors.Is(err, session.ErrNotFound) {
		t.Error(err)
	}
	for _, c := range []struct {
		f    session.Filter
		want []int
	}{
		{session.Filter{ProjectID: "p"}, []int{0, 4}},
		{session.Filter{ProjectID: "p", Archived: true, Limit: 2}, []int{2, 0}},
		{session.Filter{All: true}, []int{0, 4, 3, 1}},
		{session.Filter{All: true, Limit: 2}, []int{0, 4}},
		{session.Filter{All: true, Query: "session", Limit: 3}, []int{0, 4, 3}},
		{session.Filter{}, nil},
	} {
		all, err := s.List(t.Context(), c.f)
		if err != nil {
			t.Fatal(err)
		}
		var got []int
		for _, v := range all {
			got = append(got, slices.Index(ids, v.ID))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%+v: got %v, want %v", c.f, got, c.want)
		}
	}
	v, err := s.Get(t.Context(), ids[2])
	if err != nil || v.Mode != "plan" || !v.Archived || v.Title != "session 2" {
		t.Errorf("%+v, %v", v, err)
	}
}

func TestFindBySessionIDOrItsEndsOrTitle(t *testing.T) {
	t.Parallel()
	s := open(t)
	a := newSession(t, s, "p")
	b := newSession(t, s, "p")
	if err := s.Rename(t.Context(), b.ID, "The work"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, want string }{
		{a.ID, a.ID}, {a.ID[len(a.ID)-8:], a.ID}, {strings.ToUpper(b.ID[len(b.ID)-8:]), b.ID}, {"The work", b.ID},
	} {
		if v, err := s.Find(t.Context(), "p", c.name); err != nil || v.ID != c.want {
			t.Errorf("%s: %s, %v", c.name, v.ID, err)
		}
	}
	var many *session.AmbiguousError
	if _, err := s.Find(t.Context(), "p", a.ID[:4]); !errors.As(err, &many) || len(many.Sessions) != 2 {
		t.Error(err)
	}
	for _, name := range []string{"", "%", "____", "nothing", "The", a.ID[:3]} {
		if _, err := s.Find(t.Context(), "p", name); !errors.Is(err, session.ErrNotFound) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if _, err := s.Find(t.Context(), "q", "The work"); !errors.Is(err, session.ErrNotFound) {
		t.Error("a title of another project was found")
	}
}

func TestWindowsOfAHistory(t *testing.T) {
	t.Parallel()
	s := open(t)
	v := newSession(t, s, "p")
	for i := range 10 {
		say(t, s, v.ID, session.RoleAssistant, "x", session.Call{ID: fmt.Sprint(i)})
	}
	other := newSession(t, s, "p")
	say(t, s, other.ID, session.RoleUser, "other")
	for _, c := range []struct {
		w           session.Window
		first, last int64
	}{
		{session.Window{}, 1, 10},
		{session.Window{Last: 3}, 8, 10},
		{session.Window{Last: 30}, 1, 10},
		{session.Window{After: 4}, 5, 10},
		{session.Window{Before: 4}, 1, 3},
		{session.Window{After: 2, Before: 9, Last: 2}, 7, 8},
		{session.Window{After: 10}, 0, 0},
		{session.Window{After: 10, Last: 3}, 0, 0},
		{session.Window{Before: 1 << 40, Last: 1}, 10, 10},
	} {
		all, err := s.History().In(t.Context(), v.ID, c.w)
		if err != nil {
			t.Fatal(err)
		}
		var first, last int64
		if len(all) > 0 {
			first, last = all[0].Seq, all[len(all)-1].Seq
		}
		if first != c.first || last != c.last || len(all) > 0 && int64(len(all)) != last-first+1 {
			t.Errorf("%+v: got %d to %d", c.w, first, last)
		}
		for _, m := range all {
			if len(m.Calls) != 1 || m.Calls[0].ID != fmt.Sprint(m.Seq-1) {
				t.Errorf("calls of %d: %+v", m.Seq, m.Calls)
			}
		}
	}
	if _, err := s.History().All(t.Context(), "none"); !errors.Is(err, session.ErrNotFound) {
		t.Error(err)
	}
}

func TestAppendToAMissingSessionIsAnError(t *testing.T) {
	t.Parallel()
	s := open(t)
	if _, err := s.History().Append(t.Context(), session.Message{Session: "none", Role: session.RoleUser}); !errors.Is(err, session.ErrNotFound) {
		t.Error(err)
	}
	if err := s.History().FinishCall(t.Context(), session.Call{Session: newSession(t, s, "p").ID, Seq: 1}); !errors.Is(err, session.ErrNotFound) {
		t.Error(err)
	}
}

// TestStoreAgreesWithASimpleModel compares random histories with a simple model.
func TestStoreAgreesWithASimpleModel(t *testing.T) {
	t.Parallel()
	s := open(t)
	rapid.Check(t, func(rt *rapid.T) {
		v, err := s.Create(t.Context(), session.Session{ProjectID: "p"})
		if err != nil {
			rt.Fatal(err)
		}
		var want []session.Message
		next := int64(1)
		bytes := rapid.StringOf(rapid.OneOf(rapid.Rune(), rapid.Just('\n'), rapid.Just(rune(0))))
		rt.Repeat(map[string]func(*rapid.T){
			"append": func(rt *rapid.T) {
				m := session.Message{Session: v.ID, Role: rapid.SampledFrom([]string{"user", "assistant", "system"}).Draw(rt, "role")}
				for range rapid.IntRange(0, 3).Draw(rt, "parts") {
					m.Parts = append(m.Parts, session.Part{Kind: rapid.SampledFrom([]string{"text", "reasoning"}).Draw(rt, "kind"), Text: bytes.Draw(rt, "text")})
				}
				if m.Role == "assistant" {
					for i := range rapid.IntRange(0, 3).Draw(rt, "calls") {
						m.Calls = append(m.Calls, session.Call{Session: v.ID, Seq: next, Index: i, ID: fmt.Sprint(i), Name: "n", Arguments: bytes.Draw(rt, "arguments"), Status: session.StatusPending})
					}
				}
				seq, err := s.History().Append(t.Context(), m)
				if err != nil || seq != next {
					rt.Fatal(seq, err)
				}
				m.Seq = seq
				next++
				want = append(want, m)
			},
			"finish": func(rt *rapid.T) {
				for i := range want {
					for j := range want[i].Calls {
						c := &want[i].Calls[j]
						if c.Status == session.StatusPending && rapid.Bool().Draw(rt, "this") {
							c.Status, c.Result = session.StatusFailed, bytes.Draw(rt, "result")
							if err := s.History().FinishCall(t.Context(), *c); err != nil {
								rt.Fatal(err)
							}
							return
						}
					}
				}
			},
			"rewind": func(rt *rapid.T) {
				if len(want) == 0 {
					return
				}
				i := rapid.IntRange(0, len(want)-1).Draw(rt, "to")
				n, err := s.History().Rewind(t.Context(), v.ID, want[i].Seq)
				if err != nil || n != len(want)-i {
					rt.Fatal(n, err)
				}
				want = want[:i]
			},
			"": func(rt *rapid.T) {
				got, err := s.History().All(t.Context(), v.ID)
				if err != nil || len(got) != len(want) {
					rt.Fatalf("%d messages, want %d, %v", len(got), len(want), err)
				}
				counted := 0
				for i, m := range got {
					if m.Seq != want[i].Seq || m.Role != want[i].Role || m.Text() != want[i].Text() || len(m.Calls) != len(want[i].Calls) || m.Broken != "" {
						rt.Fatalf("got %+v, want %+v", m, want[i])
					}
					if m.Role != session.RoleSystem {
						counted++
					}
					for j, c := range m.Calls {
						w := want[i].Calls[j]
						if c.Arguments != w.Arguments || c.Result != w.Result || c.Status != w.Status || c.Index != j {
							rt.Fatalf("got %+v, want %+v", c, w)
						}
					}
				}
				if row, err := s.Get(t.Context(), v.ID); err != nil || row.Messages != counted {
					rt.Fatalf("%d counted, want %d, %v", row.Messages, counted, err)
				}
			},
		})
	})
}

func TestLastExchangeIsCarriedOver(t *testing.T) {
	t.Parallel()
	s := open(t)
	v, err := s.Create(t.Context(), session.Session{ProjectID: "p", Cwd: "/w", Model: "m", RoleName: "coder", RoleSnapshot: "{}"})
	if err != nil {
		t.Fatal(err)
	}
	carried := func() ([]string, error) {
		c, err := s.Carry(t.Context(), v.ID)
		if err != nil {
			return nil, err
		}
		if c.RoleName != "coder" || c.Model != "m" || c.ID == v.ID || c.Cost != 0 {
			t.Errorf("carried %+v", c)
		}
		var words []string
		for _, m := range history(t, s, c.ID) {
			words = append(words, m.Role+": "+m.Text())
			if len(m.Calls) > 0 || len(m.Parts) != 1 {
				t.Errorf("message %+v", m)
			}
		}
		return words, nil
	}
	incomplete := func(when string) {
		t.Helper()
		if words, err := carried(); !errors.Is(err, session.ErrNothing) {
			t.Errorf("%s: %q, %v", when, words, err)
		}
	}
	incomplete("empty")
	say(t, s, v.ID, session.RoleUser, "first")
	say(t, s, v.ID, session.RoleAssistant, "first answer")
	say(t, s, v.ID, session.RoleUser, "second")
	incomplete("not answered")
	say(t, s, v.ID, session.RoleAssistant, "let me see", session.Call{ID: "c", Name: "read"})
	incomplete("in its calls")
	if _, err := s.History().Append(t.Context(), session.Message{Session: v.ID, Role: session.RoleAssistant, Usage: &session.Usage{Cost: 1}, Parts: []session.Part{
		{Kind: session.PartReasoning, Text: "hm"}, {Kind: session.PartText, Text: "second answer"},
	}}); err != nil {
		t.Fatal(err)
	}
	say(t, s, v.ID, session.RoleSystem, "a notice")
	words, err := carried()
	if err != nil || !slices.Equal(words, []string{"user: second", "assistant: second answer"}) {
		t.Errorf("%q, %v", words, err)
	}
}

func TestTitleOfACommandIsWhatWasTyped(t *testing.T) {
	t.Parallel()
	s := open(t)
	v, err := s.Create(t.Context(), session.Session{ProjectID: "p", Cwd: "/w"})
	if err != nil {
		t.Fatal(err)
	}
	parts := append(text("Follow this skill now. Much text."), session.Part{Kind: session.PartShown, Text: "/greeting the captain"})
	if _, err := s.History().Append(t.Context(), session.Message{Session: v.ID, Role: session.RoleUser, Parts: parts}); err != nil {
		t.Fatal(err)
	}
	if v, err = s.Get(t.Context(), v.ID); err != nil || v.Title != "/greeting the captain" || v.FirstPrompt != "/greeting the captain" {
		t.Errorf("title %q, first prompt %q, %v", v.Title, v.FirstPrompt, err)
	}
}

func TestLastSessionIsTheOneUsedLastWhateverTheClockSays(t *testing.T) {
	t.Parallel()
	now := time.Date(2099, 1, 1, 0, 0, 0, 0, time.UTC) // a clock that is wrong
	s, err := session.Open(t.Context(), filepath.Join(t.TempDir(), "jcode.db"), session.Options{Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	early := newSession(t, s, "p")
	say(t, s, early.ID, session.RoleUser, "from the future")
	now = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	late := newSession(t, s, "p")
	say(t, s, late.ID, session.RoleUser, "from now")
	latest := func(want session.Session, why string) {
		t.Helper()
		got, err := s.Latest(t.Context(), "p")
		if err != nil || got.ID != want.ID {
			t.Errorf("%s: the last one is %q, %v", why, got.Title, err)
		}
	}
	latest(late, "begun last")
	mode := "plan"
	if err := s.Update(t.Context(), early.ID, session.Change{Mode: &mode}); err != nil {
		t.Fatal(err)
	}
	latest(early, "changed last")
	say(t, s, late.ID, session.RoleUser, "and on")
	latest(late, "spoken to last")
	found, err := s.List(t.Context(), session.Filter{ProjectID: "p", Query: "from"})
	if err != nil || len(found) != 2 || found[0].ID != late.ID {
		t.Errorf("found %+v, %v", found, err)
	}
}
