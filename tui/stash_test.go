//go:build linux || darwin

package tui

import (
	"context"
	"strings"
	"testing"
	"time"

	"jcode/agent/event"
	"jcode/tools/command"
	"jcode/tui/front"
	"jcode/tui/tuitest"
)

// keptDraft records what is stored of the input.
type keptDraft struct{ draft string }

func (*keptDraft) Recent(context.Context) ([]string, error) { return nil, nil }
func (*keptDraft) Add(context.Context, string) error        { return nil }

func (k *keptDraft) SetDraft(_ context.Context, s string) error {
	k.draft = s
	return nil
}

func TestADraftIsPutAsideForAnotherMessage(t *testing.T) {
	t.Parallel()
	kept := &keptDraft{}
	p, f := still(t, 80, 24, func(o *front.Options) { o.History = kept })
	press(p, "alt+s")
	if got := p.hint.text; !strings.Contains(got, "nothing is written") {
		t.Errorf("an empty input says %q", got)
	}
	p.in.Insert("a long\nquestion")
	press(p, "alt+s")
	if !p.in.Empty() || !strings.Contains(p.hint.text, "alt+s") {
		t.Fatalf("the input holds %q, the status line says %q", p.in.Text(), p.hint.text)
	}
	p.in.Insert("first this")
	settleCmd(p, p.submit())
	if got := f.Sent(); len(got) != 1 || got[0] != "first this" {
		t.Fatalf("sent %q", got)
	}
	if kept.draft != "a long\nquestion" {
		t.Errorf("after a message was sent, %q is kept of what is aside", kept.draft)
	}
	p.in.Insert("half")
	if err := p.drafts.keepNow(context.Background(), p); err != nil || kept.draft != "half\n\na long\nquestion" {
		t.Errorf("at the end %q is kept: %v", kept.draft, err)
	}
	press(p, "alt+s")
	if got := p.in.Text(); got != "a long\nquestion" {
		t.Fatalf("exchanged for %q", got)
	}
	p.in.Reset()
	press(p, "alt+s")
	if got := p.in.Text(); got != "half" {
		t.Errorf("taken back: %q", got)
	}
}

func TestAltMChoosesTheModel(t *testing.T) {
	t.Parallel()
	r := run(t, 80, 24, func(o *front.Options) {
		o.Models = func(context.Context) ([]command.Row, error) { return []command.Row{{ID: "a/one", Name: "a/one"}}, nil }
	}).ready()
	r.Press("alt+m")
	r.see("Models", "a/one")
}

func TestTheConversationStaysInTheTerminalAfterLeaving(t *testing.T) {
	t.Parallel()
	for leave, stays := range map[string]bool{"": true, "text": true, "none": false} {
		r := run(t, 80, 24, func(o *front.Options) { o.Leave = leave }).ready()
		r.fake.Emit(event.TurnStart{Prompt: "what is it?", Seq: 1}, event.TextDelta{Text: "a **bold** answer"}, event.AssistantMessage{Text: "a **bold** answer"}, event.TurnEnd{Reason: event.StopDone})
		r.see("a bold answer")
		if err := r.quit(); err != nil {
			t.Fatal(err)
		}
		s := r.Settle(50*time.Millisecond, tuitest.Limit)
		if got := s.Contains("› what is it?") && s.Contains("a bold answer"); got != stays {
			t.Errorf("leave %q: the shell shows\n%s", leave, s.Text())
		}
	}
}

func TestNothingStaysOfAChatInWhichNothingWasSaid(t *testing.T) {
	t.Parallel()
	r := run(t, 80, 24, nil).ready()
	if err := r.quit(); err != nil {
		t.Fatal(err)
	}
	if s := r.Settle(50*time.Millisecond, tuitest.Limit); strings.TrimSpace(s.Text()) != "" {
		t.Errorf("the shell shows\n%s", s.Text())
	}
}
