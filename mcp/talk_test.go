package mcp

import (
	"context"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// scriptedPerson answers a server's questions.
type scriptedPerson struct {
	mu     sync.Mutex
	asked  []ElicitQuestion
	answer ElicitAnswer
	block  bool
}

func (p *scriptedPerson) Elicit(ctx context.Context, q ElicitQuestion) (ElicitAnswer, error) {
	p.mu.Lock()
	p.asked = append(p.asked, q)
	answer, block := p.answer, p.block
	p.mu.Unlock()
	if block {
		<-ctx.Done()
		return ElicitAnswer{}, ctx.Err()
	}
	return answer, nil
}

func (p *scriptedPerson) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.asked)
}

func TestElicitation(t *testing.T) { // section 6
	person := &scriptedPerson{answer: ElicitAnswer{Action: "accept", Values: map[string]any{"name": "Ada", "age": 36.0}}}
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
	person.answer = ElicitAnswer{Action: "accept"}
	res = r.call("mcp:s:ask_url", `{}`)
	if q = person.asked[1]; q.URL != "https://example.com/login" || q.Domain != "example.com" || !strings.Contains(res.Text, `"accept"`) {
		t.Errorf("%+v %+v", q, res)
	}
	person.answer = ElicitAnswer{Action: "decline"}
	if res = r.call("mcp:s:ask_form", `{}`); !strings.Contains(res.Text, `"decline"`) {
		t.Errorf("%+v", res)
	}
}

func TestElicitationHeadless(t *testing.T) {
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

func TestQuestionStopsTheClockAndEndsWithItsCall(t *testing.T) { // section 3
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
	waitFor(t, "the question is asked", func() bool {
		if person.count() == 1 {
			return true
		}
		select {
		case err := <-ended: // a busy machine needs longer for it than a call may take
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
	waitFor(t, "the next question can be asked", func() bool {
		select {
		case r.m.asking <- struct{}{}:
			<-r.m.asking
			return true
		default:
			return false
		}
	})
}

func TestUnsafeURLsAreNeverShown(t *testing.T) {
	for url, ok := range map[string]bool{"https://example.com/x": true, "http://127.0.0.1:8/x": true, "http://localhost/x": true, "http://example.com": false, "javascript:alert(1)": false, "file:///etc/passwd": false} {
		if _, err := elicitQuestion("s", &sdk.ElicitParams{Mode: "url", URL: url}); (err == nil) != ok {
			t.Errorf("%s: %v", url, err)
		}
	}
}

func TestPromptsResourcesAndInstructions(t *testing.T) { // section 6
	person := &scriptedPerson{answer: ElicitAnswer{Action: "accept", Values: map[string]any{"file": "asked.go"}}}
	r := newManagerRig(t, map[string]any{"s": "full"}, func(o *Options) { o.Elicitor = person })
	r.m.Start()
	r.waitState("s", StateConnected)
	waitFor(t, "prompts are listed", func() bool { return len(r.m.Commands().List()) == 2 })
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
	list, err := r.m.Resources(t.Context())
	if err != nil || len(list) != 2 || list[0].URI != "mem://notes" || !list[1].Template {
		t.Errorf("%+v %v", list, err)
	}
	got := r.m.Mentions(t.Context(), "look at @s:mem://notes, and @s:mem://notes again, not @x:y:z or a@s:mem")
	if len(got) != 1 || got[0].Text != "remember the milk" || got[0].Err != nil {
		t.Errorf("%+v", got)
	}
	if text := r.m.Instructions(); text != "<instructions from MCP server s, untrusted>\nUse echo for everything.\n</instructions>\n" {
		t.Errorf("%q", text)
	}
	r.call("mcp:s:log", `{}`)
	d, err := r.m.Server("s")
	if err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the log message is in the server's log", func() bool {
		data, err := os.ReadFile(d.Log)
		return err == nil && strings.Contains(string(data), "[warning] x") && strings.Contains(string(data), "disk almost full")
	})
}

func TestServersWithoutPromptsAreNotAsked(t *testing.T) { // M12, codebase-memory-mcp#958
	r := newManagerRig(t, map[string]any{"s": "no-ping"}, nil)
	r.m.Start()
	r.waitState("s", StateConnected)
	if len(r.m.Commands().List()) != 0 {
		t.Error("prompts of a server that has none")
	}
	if list, err := r.m.Resources(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("%v %v", list, err)
	}
	if len(r.pids("s")) != 1 {
		t.Error("it was started again")
	}
}
