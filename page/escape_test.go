//go:build linux || darwin

package page_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	nethtml "golang.org/x/net/html"

	"jcode/agent/event"
	"jcode/agent/model"
	"jcode/agent/roster"
	"jcode/remote"
	"jcode/tools"
)

// evil is text that tries to run, to end what it stands in, and to drive a terminal.
func evil(n int) string {
	return fmt.Sprintf("e%d\"'></textarea></title></style></template><script>alert(1)</script><img src=x onerror=alert(1)><svg onload=alert(1)>\x1b]0;x\x07 [a](javascript:alert(1)) [b](/d/x) <javascript:alert(2)> [c](data:text/html,x) ![p](https://evil.example/p.png)\ndata: <b id=asks>", n)
}

// TestNothingRunsOfWhatIsShown, whichever field it comes in: on the list, on the page and in what streams.
func TestNothingRunsOfWhatIsShown(t *testing.T) {
	s := newStage(t)
	n := 0
	e := func() string { n++; return evil(n) }
	st := event.State{Session: "s1", Title: e(), Model: e(), Role: e(), Mode: tools.Mode(e()), Cwd: e()}
	s.conv.state = st
	s.conv.past = []event.Event{
		event.TurnStart{Seq: 1, Prompt: e()},
		event.AssistantMessage{Seq: 2, Text: e() + "\n\n```" + e() + "\n" + e() + "\n```\n\n| a |\n|:-:|\n| b |\n", Reasoning: e()},
		event.CallStart{ID: e(), Name: e(), Arguments: []byte(e())},
	}
	d := s.pair(remote.Control)
	out := d.stream("")
	defer out.close()
	if _, ok := out.next(); !ok {
		t.Fatal("nothing is streamed")
	}
	args := fmt.Appendf(nil, "{%q: %q}", e(), "x")
	for _, ev := range []event.Event{
		event.CallStart{ID: "c", Name: e(), Arguments: args},
		event.CallProgress{ID: "c", Text: e(), Output: e()},
		event.CallEnd{ID: "c", Name: e(), Status: e(), Result: tools.Result{Text: e(), Parts: []tools.Part{{MIME: "image/svg+xml", Data: []byte("<svg onload=alert(1)>")}, {MIME: "image/png\" onerror=\"x", Data: []byte("x")}}, Display: tools.Display{Summary: e(), Diff: e()}}},
		event.ApprovalAsked{ID: e(), Question: tools.Question{Title: e(), Command: e(), Diff: e(), Details: []string{e()}, Options: []tools.AnswerOption{{Scope: tools.AnswerScope(e()), Label: e(), Rules: []string{e()}}}}},
		event.Nested{Label: e(), Event: event.AskPerson{ID: e(), Text: e(), Options: []string{e()}}},
		event.AskForm{ID: e(), Form: tools.Form{From: e(), Text: e(), Yes: e(), No: e(), Fields: []tools.FormField{
			{Name: e(), Title: e(), Description: e(), Kind: tools.FieldText, Default: e()},
			{Name: e(), Kind: tools.FieldChoice, Options: []string{e()}, Labels: []string{e()}},
			{Name: e(), Kind: tools.FieldChoices, Options: []string{e()}},
			{Name: e(), Kind: tools.FieldBoolean},
			{Name: e(), Kind: tools.FieldNumber, Default: e()},
		}}},
		event.TodoChanged{Items: []tools.TodoItem{{Text: e(), Status: e()}}},
		event.Notice{Level: event.Level(e()), Text: e()},
		event.Unsent{Prompt: event.Prompt{Text: e()}, Err: io.EOF},
		event.QueueChanged{Queued: []event.Queued{{ID: e(), Text: e()}}},
		event.AgentChanged{Agent: roster.State{Name: e(), Status: roster.Status(e()), Doing: e()}},
		event.Usage{Total: model.Usage{Input: 3}, Window: 10},
		event.Retrying{Reason: e()},
		event.ReasoningDelta{Text: e()},
		event.TextDelta{Text: e() + "\n\nmore " + e() + "\n\nlast"},
		event.StateChanged{State: st},
		event.Notice{Text: "the end of it"},
	} {
		s.conv.Emit(ev)
	}
	harmless(t, "page", d.show())
	harmless(t, "list", s.body(s.send(d.as(http.MethodGet, d.home, nil))))
	for {
		html, ok := out.next()
		if !ok {
			t.Fatal("the stream ended")
		}
		harmless(t, "stream", html)
		if strings.Contains(html, "the end of it") {
			break
		}
	}
}

// harmless fails where HTML runs or loads something, or leads anywhere else than to the web.
func harmless(t *testing.T, where, html string) {
	t.Helper()
	if strings.ContainsAny(html, "\x1b\x07") {
		t.Errorf("%s: control characters", where)
	}
	tokens := nethtml.NewTokenizer(strings.NewReader(html))
	for {
		kind := tokens.Next()
		if kind == nethtml.ErrorToken {
			return
		}
		tag := tokens.Token()
		if kind != nethtml.StartTagToken && kind != nethtml.SelfClosingTagToken {
			continue
		}
		src := ""
		for _, a := range tag.Attr {
			switch {
			case a.Key == "src":
				src = a.Val
			case strings.HasPrefix(a.Key, "on"), a.Key == "style", a.Key == "srcdoc":
				t.Errorf("%s: %s", where, tag)
			case a.Key == "href" && !strings.HasPrefix(a.Val, "https://") && !strings.HasPrefix(a.Val, "/d/") && a.Val != "/page.css", a.Key == "action" && !strings.HasPrefix(a.Val, "/d/"):
				t.Errorf("%s: leads to %s", where, tag)
			case a.Key == "href" && a.Val == "/d/x":
				t.Errorf("%s: a link of a model leads into the page: %s", where, tag)
			}
		}
		switch tag.Data {
		case "script":
			if src != "/page.js" {
				t.Errorf("%s: %s", where, tag)
			}
		case "iframe", "object", "embed", "svg", "base", "style":
			t.Errorf("%s: %s", where, tag)
		case "img":
			if !strings.HasPrefix(src, "data:image/") {
				t.Errorf("%s: %s", where, tag)
			}
		}
	}
}
