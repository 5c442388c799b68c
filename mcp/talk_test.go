package mcp

import (
	"context"
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"jcode/internal/testkit/eventually"
	"jcode/tools"
)

// scriptedPerson answers a server's questions.
type scriptedPerson struct {
	mu     sync.Mutex
	asked  []ElicitQuestion
	answer tools.FormAnswer
	block  bool
}

func (p *scriptedPerson) Elicit(ctx context.Context, q ElicitQuestion) (tools.FormAnswer, error) {
	p.mu.Lock()
	p.asked = append(p.asked, q)
	answer, block := p.answer, p.block
	p.mu.Unlock()
	if block {
		<-ctx.Done()
		return tools.FormAnswer{}, ctx.Err()
	}
	return answer, nil
}

func (p *scriptedPerson) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.asked)
}

func TestElicitation(t *testing.T) {
	t.Parallel()
	person := &scriptedPerson{answer: tools.FormAnswer{Action: "accept", Values: map[string]any{"name": "Ada", "age": 36.0}}}
	r := newManagerRig(t, map[string]any{"s": "elicit"}, func(o *Options) { o.Elicitor = person })
	r.m.Start()
	r.waitState("s", StateConnected)
	res := r.call("mcp:s:ask_form", `{}`)
	if res.Failed || !strings.Contains(res.Text, `"action":"accept"`) || !strings.Contains(res.Text, `"name":"Ada"`) || !strings.Contains(res.Text, `"colour":"red"`) {
		t.Errorf("%+v", res)
	}
	q := person.asked[0]
	if q.Server != "s" || q.Message != "Who are you?" || len(q.Fields) != 4 || q.Fields[0].Name != "name" || !q.Fields[0].Required || q.Fields[0].Title != "Name" || q.Fields[1].Kind != "integer" || q.Fields[1].Default != 7.0 || q.Fields[3].Kind != "choice" || len(q.Fields[3].Options) != 2 {
		t.Errorf("%+v", q)
	}
	person.answer = tools.FormAnswer{Action: "accept"}
	res = r.call("mcp:s:ask_url", `{}`)
	if q = person.asked[1]; q.URL != "https://example.com/login" || q.Domain != "example.com" || !strings.Contains(res.Text, `"accept"`) {
		t.Errorf("%+v %+v", q, res)
	}
	person.answer = tools.FormAnswer{Action: "decline"}
	if res = r.call("mcp:s:ask_form", `{}`); !strings.Contains(res.Text, `"decline"`) {
		t.Errorf("%+v", res)
	}
}

// TestFormOfAServer checks each kind of field of the protocol, in the server's order.
func TestFormOfAServer(t *testing.T) {
	t.Parallel()
	person := &scriptedPerson{answer: tools.FormAnswer{Action: tools.FormCancel}}
	r := newManagerRig(t, map[string]any{"s": "elicit"}, func(o *Options) { o.Elicitor = person })
	r.m.Start()
	r.waitState("s", StateConnected)
	if res := r.call("mcp:s:ask_all", `{}`); !strings.Contains(res.Text, `"cancel"`) {
		t.Errorf("%+v", res)
	}
	want := []tools.FormField{
		{Name: "zone", Title: "Zone", Kind: tools.FieldText, Required: true, Min: new(2.0), Max: new(4.0)},
		{Name: "mail", Kind: tools.FieldText, Format: "email", Default: "ada@example.com"},
		{Name: "price", Kind: tools.FieldNumber, Max: new(99.5)},
		{Name: "class", Kind: tools.FieldChoice, Options: []string{"1", "2"}, Labels: []string{"First", "Second"}, Default: "2"},
		{Name: "extras", Kind: tools.FieldChoices, Options: []string{"w", "m"}, Labels: []string{"Window", "Meal"}, Max: new(2.0), Default: []string{"m"}},
		{Name: "days", Kind: tools.FieldChoices, Options: []string{"mon", "tue"}, Labels: []string{"mon", "tue"}},
		{Name: "back", Kind: tools.FieldBoolean},
	}
	if person.count() == 0 {
		t.Fatal("the person was not asked")
	}
	if got := person.asked[0].Fields; !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

func TestElicitationHeadless(t *testing.T) {
	t.Parallel()
	for accept, want := range map[bool][2]string{true: {`"decline"`, `"age":7`}, false: {`"decline"`, `"decline"`}} {
		r := newManagerRig(t, map[string]any{"s": "elicit"}, func(o *Options) { o.Elicitor = Unattended{AcceptDefaults: accept} })
		r.m.Start()
		r.waitState("s", StateConnected)
		if res := r.call("mcp:s:ask_form", `{}`); !strings.Contains(res.Text, want[0]) {
			t.Errorf("a required field without default: %+v", res)
		}
		if res := r.call("mcp:s:ask_defaults", `{}`); !strings.Contains(res.Text, want[1]) {
			t.Errorf("%+v", res)
		}
		if res := r.call("mcp:s:ask_url", `{}`); !strings.Contains(res.Text, `"decline"`) {
			t.Errorf("%+v", res)
		}
	}
}

func TestQuestionStopsTheClockAndEndsWithItsCall(t *testing.T) {
	t.Parallel()
	person := &scriptedPerson{block: true}
	r := newManagerRig(t, map[string]any{"s": with("s", "elicit", map[string]any{"callTimeout": "1s"})}, func(o *Options) { o.Elicitor = person })
	r.m.Start()
	r.waitState("s", StateConnected)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ended := make(chan error, 1)
	ask := func() {
		_, err := r.m.call(ctx, "s", "ask_form", nil, nil)
		ended <- err
	}
	go ask()
	eventually.True(t, "the question is asked", func() bool {
		if person.count() == 1 {
			return true
		}
		select {
		case err := <-ended: // on a busy machine this may take longer than the call's limit
			t.Logf("again after %v", err)
			go ask()
		default:
		}
		return false
	})
	select {
	case err := <-ended:
		t.Fatalf("the call ended while a person was asked: %v", err)
	case <-time.After(1500 * time.Millisecond): // longer than callTimeout
	}
	cancel()
	if err := <-ended; err == nil {
		t.Error("a cancelled call succeeded")
	}
	eventually.True(t, "the next question can be asked", func() bool {
		select {
		case r.m.asker.turn <- struct{}{}:
			<-r.m.asker.turn
			return true
		default:
			return false
		}
	})
}

// TestCallThatBeginsDuringAQuestionHasLimits checks that its limits apply once the question is answered.
func TestCallThatBeginsDuringAQuestionHasLimits(t *testing.T) {
	t.Parallel()
	ask := make(chan struct{})
	person := elicitorFunc(func(ctx context.Context, _ ElicitQuestion) (tools.FormAnswer, error) {
		select {
		case <-ask:
		case <-ctx.Done():
		}
		return tools.FormAnswer{Action: tools.FormDecline}, nil
	})
	r := newManagerRig(t, map[string]any{"s": with("s", "elicit", map[string]any{"callTimeout": "1s"})}, func(o *Options) { o.Elicitor = person })
	r.m.Start()
	r.waitState("s", StateConnected)
	asking := make(chan tools.Result, 1)
	go func() { asking <- r.call("mcp:s:ask_form", `{}`) }()
	eventually.True(t, "the question is asked", func() bool { return len(r.m.asker.turn) == 1 })
	ended := make(chan error, 1)
	go func() {
		_, err := r.m.call(context.Background(), "s", "sleep", json.RawMessage(`{"ms":600000}`), nil)
		ended <- err
	}()
	s := r.m.actor("s").view.Load().session
	eventually.True(t, "both calls run", func() bool { return s.running() == 2 })
	close(ask)
	<-asking
	select {
	case err := <-ended:
		if err == nil || !strings.Contains(err.Error(), "timed out after 1 s") {
			t.Errorf("%v", err)
		}
	case <-time.After(patience):
		t.Error("the call has no limit")
	}
}

type elicitorFunc func(context.Context, ElicitQuestion) (tools.FormAnswer, error)

func (f elicitorFunc) Elicit(ctx context.Context, q ElicitQuestion) (tools.FormAnswer, error) {
	return f(ctx, q)
}

func TestUnsafeURLsAreNeverShown(t *testing.T) {
	t.Parallel()
	for url, ok := range map[string]bool{"https://example.com/x": true, "http://127.0.0.1:8/x": true, "http://localhost/x": true, "http://example.com": false, "javascript:alert(1)": false, "file:///etc/passwd": false} {
		if _, err := elicitQuestion("s", &sdk.ElicitParams{Mode: "url", URL: url}); (err == nil) != ok {
			t.Errorf("%s: %v", url, err)
		}
	}
}

func TestPromptsResourcesAndInstructions(t *testing.T) {
	t.Parallel()
	person := &scriptedPerson{answer: tools.FormAnswer{Action: "accept", Values: map[string]any{"file": "asked.go"}}}
	r := newManagerRig(t, map[string]any{"s": "full"}, func(o *Options) { o.Elicitor = person })
	r.m.Start()
	r.waitState("s", StateConnected)
	eventually.True(t, "prompts are listed", func() bool { return len(r.m.Commands().List()) == 2 })
	c := r.m.Commands().List()[0]
	if c.Name != "mcp__s__review" || c.Hint != "<file> [depth]" || c.Description != "Reviews a file." {
		t.Errorf("%+v", c)
	}
	for args, want := range map[string]string{
		"main.go": "Prompt review for main.go depth .", `"a b.go" 2`: "Prompt review for a b.go depth 2.", "depth=3 file=x.go": "Prompt review for x.go depth 3.", "": "Prompt review for asked.go depth .",
	} {
		out, err := c.Run(t.Context(), args)
		if err != nil || out.Prompt != want {
			t.Errorf("%q: %+v %v", args, out, err)
		}
	}
	for typed, want := range map[string]string{"ma": "main.go main_test.go", "a.go ma": "a.go main.go a.go main_test.go", "": "main.go main_test.go"} {
		if got := strings.Join(c.Complete(t.Context(), typed), " "); got != want {
			t.Errorf("%q is completed to %q, want %q", typed, got, want)
		}
	}
	if list := r.m.Resources(t.Context()); len(list) != 2 || list[0].URI != "mem://notes" || list[0].Name != "Notes" || !list[1].Template {
		t.Errorf("%+v", list)
	}
	got := r.m.Mentions(t.Context(), "look at @s:mem://notes, and @s:mem://notes again, not @x:y:z or a@s:mem")
	if len(got) != 1 || got[0].Text != "remember the milk" || got[0].Err != nil {
		t.Errorf("%+v", got)
	}
	got = r.m.Mentions(t.Context(), "and @s:mem://day/{date}.")
	if len(got) != 1 || got[0].Err == nil || !strings.Contains(got[0].Err.Error(), "write a value in place of {date}") {
		t.Errorf("a template: %+v", got)
	}
	text, servers := r.m.Instructions(nil)
	if text != "<instructions from MCP server s, untrusted>\nUse echo for everything.\n</instructions>\n" || len(servers) != 1 || servers[0] != "s" {
		t.Errorf("%q of %v", text, servers)
	}
	if text, servers = r.m.Instructions(map[string]bool{"s": true}); text != "" || servers != nil {
		t.Errorf("told again: %q of %v", text, servers)
	}
	r.call("mcp:s:log", `{}`)
	d, err := r.m.Server("s")
	if err != nil {
		t.Fatal(err)
	}
	eventually.True(t, "the log message is in the server's log", func() bool {
		data, err := os.ReadFile(d.Log)
		return err == nil && strings.Contains(string(data), "[warning] x") && strings.Contains(string(data), "disk almost full")
	})
}

func TestServersWithoutPromptsAreNotAsked(t *testing.T) {
	t.Parallel()
	r := newManagerRig(t, map[string]any{"s": "no-ping"}, nil)
	r.m.Start()
	r.waitState("s", StateConnected)
	if len(r.m.Commands().List()) != 0 {
		t.Error("prompts of a server that has none")
	}
	if list := r.m.Resources(t.Context()); len(list) != 0 {
		t.Errorf("%v", list)
	}
	if len(r.pids("s")) != 1 {
		t.Error("it was started again")
	}
}
