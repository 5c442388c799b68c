//go:build linux || darwin

package page_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	nethtml "golang.org/x/net/html"

	"jcode/agent/event"
	"jcode/internal/diff"
	"jcode/remote"
	"jcode/tools"
)

// shownBy is a page in a browser, as far as the script keeps it: what stands in the transcript and below it.
type shownBy struct {
	order []string
	text  map[string]string
}

// apply does with a fragment what the script does.
func (b *shownBy) apply(t *testing.T, fragment string) {
	t.Helper()
	nodes, err := nethtml.ParseFragment(strings.NewReader(fragment), nil)
	if err != nil {
		t.Fatal(err)
	}
	var walk func(n *nethtml.Node, fresh bool)
	walk = func(n *nethtml.Node, fresh bool) {
		id := attribute(n, "id")
		switch {
		case n.Data == "html" || n.Data == "head" || n.Data == "body" || n.Data == "template":
			for c := n.FirstChild; c != nil; c = c.NextSibling {
				walk(c, n.Data == "template")
			}
		case id == "log" || id == "live":
			b.drop(id == "log")
			for c := n.FirstChild; c != nil; c = c.NextSibling {
				walk(c, true)
			}
		case id == "":
		case b.text[id] != "":
			b.text[id] = content(n) + " "
		case fresh:
			b.order, b.text[id] = append(b.order, id), content(n)+" "
		}
	}
	for _, n := range nodes {
		walk(n, false)
	}
}

// drop empties the transcript, or what streams.
func (b *shownBy) drop(log bool) {
	var keep []string
	for _, id := range b.order {
		if strings.HasPrefix(id, "b") == log {
			delete(b.text, id)
		} else {
			keep = append(keep, id)
		}
	}
	b.order = keep
}

func (b *shownBy) transcript() string {
	var out strings.Builder
	for _, id := range b.order {
		if strings.HasPrefix(id, "b") {
			out.WriteString(b.text[id] + "\n")
		}
	}
	return out.String()
}

func attribute(n *nethtml.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func content(n *nethtml.Node) string {
	if n.Type == nethtml.TextNode {
		return n.Data
	}
	var out strings.Builder
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		out.WriteString(content(c))
	}
	return strings.TrimSpace(out.String())
}

// TestALostConnectionGoesOnWithoutAGapOrADouble, wherever it is cut.
func TestALostConnectionGoesOnWithoutAGapOrADouble(t *testing.T) {
	s := newStage(t)
	d := s.pair(remote.Control)
	seen := &shownBy{text: map[string]string{}}
	first := d.stream("")
	html, ok := first.next()
	if !ok {
		t.Fatal("nothing is streamed")
	}
	seen.apply(t, html)
	first.close()
	const turns = 30 // no more items than are shown at first
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range turns {
			seq := int64(10 * (i + 1))
			s.conv.Emit(event.TurnStart{Seq: seq, Prompt: fmt.Sprintf("prompt %d", i)})
			for j := range 5 {
				s.conv.Emit(event.TextDelta{Text: fmt.Sprintf("piece %d.\n\n", j)})
			}
			s.conv.Emit(event.AssistantMessage{Seq: seq + 1, Text: fmt.Sprintf("answer %d", i)})
			s.conv.Emit(event.CallStart{ID: "same", Name: "ls", Arguments: []byte(`{}`)})
			s.conv.Emit(event.CallEnd{ID: "same", Name: "ls", Result: tools.Result{Text: fmt.Sprintf("result %d", i)}})
			s.conv.Emit(event.TurnEnd{Reason: "done"})
		}
		s.conv.Emit(event.Notice{Text: "the end of it"})
	}()
	last := first.last
	for cut := 1; !strings.Contains(seen.transcript(), "the end of it"); cut++ {
		out := d.stream(last)
		for range 1 + cut%3 {
			html, ok := out.next()
			if !ok {
				t.Fatalf("the stream ended by itself after %s:\n%s", out.last, seen.transcript())
			}
			seen.apply(t, html)
			if strings.Contains(html, "the end of it") {
				break
			}
		}
		out.close() // in the middle
		last = out.last
	}
	<-done
	for i := range turns {
		for _, want := range []string{"prompt", "answer", "result"} {
			if n := strings.Count(seen.transcript()+"\n", fmt.Sprintf("%s %d ", want, i)) + strings.Count(seen.transcript(), fmt.Sprintf("%s %d\n", want, i)); n != 1 {
				t.Fatalf("%s %d is shown %d times:\n%s", want, i, n, seen.transcript())
			}
		}
	}
	if left := len(seen.order) - strings.Count(seen.transcript(), "\n"); left > 2 {
		t.Errorf("%d pieces of answers that were committed are left: %v", left, seen.order)
	}
}

// TestFinishedPiecesOfAStreamingAnswerAreSentOnce: only the last one is drawn again.
func TestFinishedPiecesOfAStreamingAnswerAreSentOnce(t *testing.T) {
	s := newStage(t)
	d := s.pair(remote.Watch)
	out := d.stream("")
	defer out.close()
	if _, ok := out.next(); !ok {
		t.Fatal("nothing is streamed")
	}
	s.conv.Emit(event.TurnStart{Seq: 1, Prompt: "go"})
	var all strings.Builder
	for _, piece := range []string{"First.\n", "\n```go\nfunc a() {\n\n}\n", "```\n\nSecond ", "one.\n\n- a\n\n", "- b\n\nThird", " and last"} {
		s.conv.Emit(event.TextDelta{Text: piece})
		s.conv.Emit(event.Notice{Text: "after " + piece})
		for !strings.Contains(all.String(), strings.TrimSpace(strings.Split(strings.TrimSpace("after "+piece), "\n")[0])) {
			html, ok := out.next()
			if !ok {
				t.Fatal("the stream ended")
			}
			all.WriteString(html)
		}
	}
	for _, once := range []string{`id="l0"`, `id="l1"`, `id="l2"`} {
		if n := strings.Count(all.String(), once); n != 1 {
			t.Errorf("%s is sent %d times:\n%s", once, n, all.String())
		}
	}
	if page := d.show(); strings.Count(page, "<ul>\n<li>") != 1 || !strings.Contains(page, "Third and last") {
		t.Errorf("a list or a fence is torn: %s", page)
	}
}

// TestWhatAPageAsksIsDone by the session, in the words of its protocol.
func TestWhatAPageAsksIsDone(t *testing.T) {
	s := newStage(t)
	d := s.pair(remote.Control)
	s.conv.Emit(event.ApprovalAsked{ID: "a", Question: tools.Question{Options: []tools.AnswerOption{{Scope: tools.AnswerOnce}, {Scope: tools.AnswerNo}}}})
	s.conv.Emit(event.AskPerson{ID: "q", Text: "Which?", Options: []string{"one", "two"}})
	s.conv.Emit(event.AskForm{ID: "f", Form: tools.Form{Fields: []tools.FormField{
		{Name: "name", Kind: tools.FieldText}, {Name: "count", Kind: tools.FieldInteger}, {Name: "yes", Kind: tools.FieldBoolean}, {Name: "some", Kind: tools.FieldChoices, Options: []string{"x", "y"}},
	}}})
	for _, c := range []struct {
		what, want string
		form       url.Values
	}{
		{"prompt", "prompt a\nb", url.Values{"text": {"a\r\nb"}}},
		{"answer", "answer no use the other", url.Values{"id": {"a"}, "option": {"1"}, "word": {"use the other"}}},
		{"reply", "reply two", url.Values{"id": {"q"}, "option": {"two"}}},
		{"reply", "reply neither", url.Values{"id": {"q"}, "text": {"neither"}}},
		{"reply", "reply two\nnot today", url.Values{"id": {"q"}, "option": {"two"}, "text": {"not today"}}},
		{"fill", "fill accept map[count:3 name:me some:[x y] yes:true]", url.Values{"id": {"f"}, "action": {"accept"}, "f0": {"me"}, "f1": {"3"}, "f2": {"true"}, "f3": {"x", "y"}}},
		{"unqueue", "unqueue", url.Values{"id": {"q1"}}},
		{"set", "mode ask", url.Values{"mode": {"ask"}}},
		{"set", "model other", url.Values{"model": {"other"}}},
		{"interrupt", "interrupt", nil},
	} {
		res := s.send(d.as(http.MethodPost, d.session()+"/"+c.what, c.form))
		if did := s.conv.done(); res.StatusCode != http.StatusSeeOther || did != c.want {
			t.Errorf("%s: %s %q %s", c.what, res.Status, did, s.body(res))
		}
	}
	for what, form := range map[string]url.Values{"set": {"mode": {"yolo"}}, "answer": {"id": {"gone"}, "option": {"0"}}, "nonsense": nil, "fill": {"id": {"f"}, "action": {"accept"}, "f1": {"x"}}} {
		if res := s.send(d.as(http.MethodPost, d.session()+"/"+what, form)); res.StatusCode != http.StatusConflict {
			t.Errorf("%s: %s", what, res.Status)
		}
	}
	if did := s.conv.done(); did != "" {
		t.Errorf("it did %q", did)
	}
}

// TestSingleHunksAreTakenOnThePage by leaving others without a tick.
func TestSingleHunksAreTakenOnThePage(t *testing.T) {
	s := newStage(t)
	d := s.pair(remote.Control)
	old := "one\n" + strings.Repeat("same\n", 20) + "two\n"
	now := strings.NewReplacer("one", "uno", "two", "dos").Replace(old)
	s.conv.Emit(event.ApprovalAsked{ID: "a", Question: tools.Question{
		Tool: "edit", Diff: diff.Files("list.txt", &old, &now).Text,
		Options: []tools.AnswerOption{{Scope: tools.AnswerOnce}, {Scope: tools.AnswerNo}},
	}})
	if page := d.show(); strings.Count(page, `name="hunk"`) != 2 || !strings.Contains(page, "list.txt line 22 +1 -1") {
		t.Errorf("the hunks are not there: %s", page)
	}
	for _, c := range []struct {
		option, want string
		ticked       []string
		status       int
	}{
		{"0", "answer once [1]", []string{"1"}, http.StatusSeeOther},
		{"0", "answer once ", []string{"0", "1"}, http.StatusSeeOther},
		{"1", "answer no ", []string{"1"}, http.StatusSeeOther},
		{"0", "", nil, http.StatusConflict},
		{"0", "", []string{"x"}, http.StatusConflict},
	} {
		res := s.send(d.as(http.MethodPost, d.session()+"/answer", url.Values{"id": {"a"}, "option": {c.option}, "hunk": c.ticked}))
		if did := s.conv.done(); res.StatusCode != c.status || did != c.want {
			t.Errorf("%q with %q: %s %q, want %q", c.option, c.ticked, res.Status, did, c.want)
		}
	}
}

// TestALongTranscriptIsShownFromItsEnd, and what came before it on demand.
func TestALongTranscriptIsShownFromItsEnd(t *testing.T) {
	s := newStage(t)
	s.conv.past = long(5000)
	d := s.pair(remote.Watch)
	began := time.Now()
	page := d.show()
	t.Logf("the first page took %s", time.Since(began))
	if n := strings.Count(page, "<article"); n != 100 || !strings.Contains(page, "answer 4999") {
		t.Errorf("%d items are shown", n)
	}
	_, rest, _ := strings.Cut(page, `id="earlier"><a href="`)
	link, _, _ := strings.Cut(rest, `"`)
	earlier := s.body(s.send(d.as(http.MethodGet, link, nil)))
	if !strings.Contains(earlier, "answer 4899") || strings.Contains(earlier, "answer 4999") {
		t.Errorf("earlier: %s", earlier)
	}
	if found := s.body(d.fetch("/search?q=answer+17+with")); !strings.Contains(found, "<mark>answer 17 with</mark>") {
		t.Errorf("found: %s", found)
	}
}

func long(n int) (out []event.Event) {
	for i := range n {
		out = append(out, event.AssistantMessage{Seq: int64(i + 1), Text: fmt.Sprintf("answer %d with some `code` and **more**", i)})
	}
	return out
}
