package history

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"jcode/agent/model"
)

// sendableOf returns a history in sendable form.
func sendableOf(history []model.Message) []model.Message {
	s := sendable{out: make([]model.Message, 0, len(history))}
	s.extend(history)
	return s.out
}

// breaches lists what a provider would refuse in a history.
func breaches(history []model.Message) []string {
	var out []string
	add := func(s string) { out = append(out, s) }
	ids := map[string]bool{}
	for i := 0; i < len(history); i++ {
		m := history[i]
		if !utf8.ValidString(m.Text) || !utf8.ValidString(m.Reasoning) {
			add("invalid UTF-8")
		}
		switch m.Role {
		case model.RoleTool:
			add("a result without its call")
		case model.RoleUser:
			if strings.TrimSpace(m.Text) == "" && len(m.Images) == 0 {
				add("empty user message")
			}
		case model.RoleAssistant:
			if strings.TrimSpace(m.Text) == "" && len(m.Calls) == 0 {
				add("empty assistant message")
			}
			for j, c := range m.Calls {
				if c.ID == "" || len(c.ID) > 128 || ids[c.ID] {
					add("bad call ID " + c.ID)
				}
				ids[c.ID] = true
				var object map[string]any
				if err := json.Unmarshal([]byte(c.Arguments), &object); err != nil || object == nil {
					add("arguments are no object: " + c.Arguments)
				}
				k := i + 1 + j
				if k >= len(history) || history[k].Role != model.RoleTool || history[k].CallID != c.ID || strings.TrimSpace(history[k].Text) == "" {
					add("no result for " + c.ID)
				}
			}
			i += len(m.Calls)
		default:
			add("role " + string(m.Role))
		}
	}
	return out
}

func anyText(t *rapid.T, label string) string {
	if rapid.Bool().Draw(t, label+" odd") {
		return rapid.SampledFrom([]string{"", " ", "\n\t", "\xff\xfe", "a\xc3", "漢", "\x00"}).Draw(t, label)
	}
	return rapid.String().Draw(t, label)
}

func anyHistory(t *rapid.T) []model.Message {
	id := rapid.SampledFrom([]string{"", "a", "b", "c", " ", strings.Repeat("x", 41), "é"})
	args := rapid.SampledFrom([]string{"", "{}", `{"a":1}`, "null", `"x"`, "[1]", `{"a`, "\xff", `{"a":"\xff"}`, `{"a":"\ud800"}`})
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) model.Message {
		m := model.Message{
			Role:   rapid.SampledFrom([]model.Role{model.RoleUser, model.RoleAssistant, model.RoleTool, "weird"}).Draw(t, "role"),
			Text:   anyText(t, "text"),
			CallID: id.Draw(t, "answers"),
		}
		for range rapid.IntRange(0, 3).Draw(t, "calls") {
			m.Calls = append(m.Calls, model.Call{ID: id.Draw(t, "id"), Name: anyText(t, "name"), Arguments: args.Draw(t, "args")})
		}
		return m
	}), 0, 12).Draw(t, "history")
}

func TestAnyHistoryBecomesSendable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		history := anyHistory(t)
		once := sendableOf(history)
		if b := breaches(once); b != nil {
			t.Fatalf("%v\nin %+v\nof %+v", b, once, history)
		}
		if twice := sendableOf(once); !reflect.DeepEqual(once, twice) {
			t.Fatalf("not idempotent:\n%+v\n%+v", once, twice)
		}
	})
}

func TestSendableKeepsWhatIsValidAndEachCompletePair(t *testing.T) {
	user := model.Message{Role: model.RoleUser, Text: "go"}
	call := func(ids ...string) model.Message {
		m := model.Message{Role: model.RoleAssistant}
		for _, id := range ids {
			m.Calls = append(m.Calls, model.Call{ID: id, Name: "read", Arguments: `{"path":"a"}`})
		}
		return m
	}
	result := func(id, text string) model.Message {
		return model.Message{Role: model.RoleTool, CallID: id, Name: "read", Text: text}
	}
	valid := []model.Message{user, call("a", "b"), result("a", "1"), result("b", "2"), {Role: model.RoleAssistant, Text: "done"}}
	if got := sendableOf(valid); !reflect.DeepEqual(got, valid) {
		t.Errorf("a valid history changed: %+v", got)
	}
	for name, tc := range map[string]struct {
		in   []model.Message
		want []string // texts of the result, in order
	}{
		"a result is missing":            {[]model.Message{user, call("a", "b", "c"), result("a", "1"), result("c", "3")}, []string{"go", "", "1", ResultMissing, "3"}},
		"a result stands twice":          {[]model.Message{user, call("a"), result("a", "1"), result("a", "2")}, []string{"go", "", "1"}},
		"a result has no call":           {[]model.Message{user, result("z", "?")}, []string{"go"}},
		"results come in another order":  {[]model.Message{user, call("a", "b"), result("b", "2"), result("a", "1")}, []string{"go", "", "1", "2"}},
		"a prompt came before a result":  {[]model.Message{user, call("a"), {Role: model.RoleUser, Text: "now"}, result("a", "1")}, []string{"go", "", "1", "now"}},
		"an ID is used again later":      {[]model.Message{call("a"), result("a", "1"), call("a"), result("a", "2")}, []string{"", "1", "", "2"}},
		"an empty result":                {[]model.Message{user, call("a"), result("a", "")}, []string{"go", "", resultEmpty}},
		"an answer without text or call": {[]model.Message{user, {Role: model.RoleAssistant, Text: " \n"}}, []string{"go"}},
	} {
		got := sendableOf(tc.in)
		var texts []string
		for _, m := range got {
			texts = append(texts, m.Text)
		}
		if !reflect.DeepEqual(texts, tc.want) {
			t.Errorf("%s: texts %q, want %q", name, texts, tc.want)
		}
		if b := breaches(got); b != nil {
			t.Errorf("%s: %v", name, b)
		}
	}
}

func FuzzSendable(f *testing.F) {
	f.Add([]byte(`[{"Role":"assistant","Calls":[{"ID":"a","Arguments":"{"}]},{"Role":"tool","CallID":"a"}]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var history []model.Message
		if json.Unmarshal(data, &history) != nil {
			return
		}
		if b := breaches(sendableOf(history)); b != nil {
			t.Errorf("%v", b)
		}
	})
}

func TestEachOfSeveralCallsWithOneIDKeepsItsResult(t *testing.T) {
	h := Transcript{}
	h.Push(1, model.Message{Role: model.RoleUser, Text: "go"}, model.Message{Role: model.RoleAssistant, Calls: []model.Call{{Name: "read"}, {Name: "read"}}})
	for n, text := range []string{"one", "two"} {
		h.Push(int64(n+2), model.Message{Role: model.RoleTool, Text: text})
		h.ToSend(true) // what is sent between two results is not kept
	}
	sent, _ := h.ToSend(true)
	if len(sent) != 4 || sent[2].Text != "one" || sent[3].Text != "two" {
		t.Errorf("sent %+v", sent)
	}
}

// A history that grows message by message is sent in the same form as one that is built at once.
func TestGrowingHistoryIsSentAsAWholeOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		history, sees := anyHistory(t), rapid.Bool().Draw(t, "sees")
		h := Transcript{}
		for i, m := range history {
			h.Push(int64(i), m)
			if rapid.Bool().Draw(t, "asked") {
				sent, tokens := h.ToSend(sees)
				want := sendableOf(history[:i+1])
				if len(sent) != len(want) || len(want) > 0 && sees && !reflect.DeepEqual(sent, want) {
					t.Fatalf("after %d messages: sent\n%+v\nwant\n%+v", i+1, sent, want)
				}
				if tokens != Tokens(sent) {
					t.Fatalf("%d tokens, want %d", tokens, Tokens(sent))
				}
			}
		}
		if h.tokens != Tokens(history) {
			t.Fatalf("%d tokens, want %d", h.tokens, Tokens(history))
		}
	})
}
