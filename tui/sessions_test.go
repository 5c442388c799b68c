//go:build linux || darwin

package tui

import (
	"context"
	"errors"
	"strings"
	"testing"

	"jcode/agent/event"
	"jcode/tools/command"
	"jcode/tui/front"
	"jcode/tui/tuitest"
)

func TestRewindGoesBackToAPrompt(t *testing.T) {
	t.Parallel()
	var ran []string
	p, _ := still(t, 80, 24, func(o *front.Options) {
		o.Commands = command.Set{Sources: []command.Source{commands{{Name: "rewind", Run: func(_ context.Context, args string) (command.Outcome, error) {
			ran = append(ran, args)
			return command.Outcome{Draft: "second"}, nil
		}}}}}
	})
	for i, s := range []string{"first", "second", "third"} {
		feed(p, event.TurnStart{Prompt: s, Seq: int64(10 * (i + 1)), At: clock}, event.TextDelta{Text: "answer to " + s}, event.AssistantMessage{Text: "answer to " + s}, event.TurnEnd{Reason: event.StopDone})
	}
	p.in.Insert("/rewind")
	press(p, "enter", "down", "enter", "down", "down", "enter")
	if len(ran) != 1 || ran[0] != "2 both" {
		t.Fatalf("ran %q", ran)
	}
	feed(p, event.Rewound{From: 20})
	if s := tuitest.Stripped(p.frameText()); strings.Contains(s, "answer to second") || !strings.Contains(s, "answer to first") || !strings.Contains(s, "› second") {
		t.Errorf("screen:\n%s", s)
	}
}

func TestNewSessionOffersTheLastExchange(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]bool{"enter": false, "down": true} {
		fs := &tuitest.Sessions{}
		p, _ := still(t, 80, 24, func(o *front.Options) { o.Sessions = fs })
		feed(p, event.TurnStart{Prompt: "x", Seq: 1}, event.TextDelta{Text: "y"}, event.AssistantMessage{Text: "y"}, event.TurnEnd{Reason: event.StopDone})
		p.in.Insert("/new")
		press(p, "enter")
		if s := tuitest.Stripped(p.frameText()); !strings.Contains(s, "Carry the last exchange over") {
			t.Fatalf("not offered:\n%s", s)
		}
		press(p, answer)
		if answer == "down" {
			press(p, "enter")
		}
		if len(fs.Carried) != 1 || fs.Carried[0] != want {
			t.Errorf("%s: carried %v", answer, fs.Carried)
		}
		if s := tuitest.Stripped(p.frameText()); strings.Contains(s, "› x") {
			t.Errorf("the old session still shows:\n%s", s)
		}
	}
}

// /session with a name that no session has yet offers it too. Notices below the answer make no difference.
func TestSessionThatBeginsByNameOffersTheLastExchange(t *testing.T) {
	t.Parallel()
	fs := &tuitest.Sessions{Unknown: true}
	p, _ := still(t, 80, 24, func(o *front.Options) { o.Sessions = fs })
	feed(p, event.TurnStart{Prompt: "x", Seq: 1}, event.TextDelta{Text: "y"}, event.AssistantMessage{Text: "y"}, event.TurnEnd{Reason: event.StopDone},
		event.Notice{Text: "skills: changed"})
	p.in.Insert("/session fresh")
	press(p, "enter")
	if s := tuitest.Stripped(p.frameText()); !strings.Contains(s, "Carry the last exchange over") || len(fs.Carried) > 0 {
		t.Fatalf("not offered:\n%s", s)
	}
	press(p, "down", "enter")
	if len(fs.Carried) != 1 || !fs.Carried[0] {
		t.Errorf("carried %v", fs.Carried)
	}
	if got := p.conv.State().Title; got != "fresh" {
		t.Errorf("the session is called %q", got)
	}
}

func TestForkCountsPromptsAsRewindDoes(t *testing.T) {
	t.Parallel()
	fs := &tuitest.Sessions{}
	p, _ := still(t, 80, 24, func(o *front.Options) { o.Sessions = fs })
	p.state.Session = "s"
	for i, said := range []string{"the first", "the second", "the third"} {
		feed(p, event.TurnStart{Prompt: said, Seq: int64(10*i + 1)}, event.TextDelta{Text: "y"}, event.AssistantMessage{Text: "y"}, event.TurnEnd{Reason: event.StopDone})
	}
	p.in.Insert("/fork 7")
	press(p, "enter")
	if s := tuitest.Stripped(p.frameText()); len(fs.Forked) > 0 || !strings.Contains(s, "2. the second") || !strings.Contains(s, "up to the answer to which prompt") {
		t.Fatalf("forked %v:\n%s", fs.Forked, s)
	}
	for said, want := range map[string]int64{"/fork 2": 20, "/fork 3": 0, "/fork": 0} {
		fs.Forked = nil
		q, _ := still(t, 80, 24, func(o *front.Options) { o.Sessions = fs })
		q.state.Session, q.tr = "s", p.tr
		q.in.Insert(said)
		press(q, "enter")
		if len(fs.Forked) != 1 || fs.Forked[0] != want {
			t.Errorf("%s: forked up to %v, want %d", said, fs.Forked, want)
		}
	}
}

// The last exchange belongs to the role in which it was made: in another role it is not offered.
func TestNewSessionInAnotherRoleCarriesNothing(t *testing.T) {
	t.Parallel()
	fs := &tuitest.Sessions{}
	p, _ := still(t, 80, 24, func(o *front.Options) { o.Sessions = fs })
	feed(p, event.TurnStart{Prompt: "x", Seq: 1}, event.TextDelta{Text: "y"}, event.AssistantMessage{Text: "y"}, event.TurnEnd{Reason: event.StopDone},
		event.StateChanged{State: event.State{Role: "reviewer"}})
	p.in.Insert("/new")
	press(p, "enter")
	if len(fs.Carried) != 1 || fs.Carried[0] {
		t.Errorf("carried %v:\n%s", fs.Carried, tuitest.Stripped(p.frameText()))
	}
}

// A prompt that is sent while another session is being opened goes to that session, not to the one that is being
// left.
func TestPromptDuringASwitchGoesToTheNewSession(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		readOnly bool
		fail     error
	}{"new": {}, "from a session that is read only": {readOnly: true}, "that fails": {fail: errors.New("no such session")}} {
		t.Run(name, func(t *testing.T) {
			p, old := still(t, 80, 24, func(o *front.Options) { o.Sessions = &tuitest.Sessions{} })
			p.state.ReadOnly = c.readOnly
			next := tuitest.New()
			opened := p.switcher.switchTo(func(context.Context) (front.Session, error) { return front.Session{Conversation: next}, c.fail })
			press(p, "hello", "enter")
			if got := old.Sent(); len(got) != 0 {
				t.Fatalf("the session that is being left got %q", got)
			}
			settleCmd(p, opened)
			if got := old.Sent(); len(got) != 0 {
				t.Errorf("the session that was left got %q", got)
			}
			got, left := strings.Join(next.Sent(), "|"), p.in.Text()
			if c.fail == nil && (got != "hello" || left != "") || c.fail != nil && (got != "" || left != "hello") {
				t.Errorf("the new session got %q, the input is %q", got, left)
			}
		})
	}
}

// If a session is requested while another one is still being opened, the last requested one stays open, and each
// prompt reaches the session that had been requested when it was sent.
func TestSwitchesHappenInTheOrderInWhichTheyWereAskedFor(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]error{"both open": nil, "the first cannot be opened": errors.New("no such session")} {
		p, old := still(t, 80, 24, func(o *front.Options) { o.Sessions = &tuitest.Sessions{} })
		first, second := tuitest.New(), tuitest.New()
		opening := p.switcher.switchTo(func(context.Context) (front.Session, error) { return front.Session{Conversation: first}, fail })
		press(p, "for the first", "enter")
		later := p.switcher.switchTo(func(context.Context) (front.Session, error) { return front.Session{Conversation: second}, nil })
		press(p, "for the second", "enter")
		settleCmd(p, later) // it would be faster
		settleCmd(p, opening)
		if p.conv != front.Conversation(second) {
			t.Errorf("%s: another session is open", name)
		}
		got := [3]string{strings.Join(old.Sent(), "|"), strings.Join(first.Sent(), "|"), strings.Join(second.Sent(), "|")}
		want, left := [3]string{"", "for the first", "for the second"}, ""
		if fail != nil {
			want[1], left = "", "for the first"
		}
		if got != want || p.in.Text() != left {
			t.Errorf("%s: sent %q, want %q; the input is %q", name, got, want, p.in.Text())
		}
	}
}

// The events of a rewind may arrive after the answer of the command that caused it.
func TestAnswerOfARewindStaysWhicheverComesFirst(t *testing.T) {
	t.Parallel()
	for name, answerFirst := range map[string]bool{"answer first": true, "event first": false} {
		t.Run(name, func(t *testing.T) {
			p, _ := still(t, 80, 24, nil)
			feed(p, event.TurnStart{Prompt: "go", Seq: 1}, event.TextDelta{Text: "gone"}, event.AssistantMessage{Text: "gone"}, event.TurnEnd{Reason: event.StopDone})
			answer := func() { p.slashes.outcome("/rewind 1", command.Outcome{Notice: "Rewound."}, nil) }
			if answerFirst {
				answer()
			}
			feed(p, event.Rewound{From: 1})
			if !answerFirst {
				answer()
			}
			if s := tuitest.Stripped(p.frameText()); strings.Count(s, "Rewound.") != 1 || strings.Contains(s, "gone") {
				t.Errorf("screen:\n%s", s)
			}
		})
	}
}

func TestResumeShowsTheWholeSession(t *testing.T) {
	t.Parallel()
	fs := &tuitest.Sessions{}
	p, _ := still(t, 80, 24, func(o *front.Options) { o.Sessions = fs })
	p.in.Insert("/resume")
	press(p, "enter", "b", "e", "t", "enter")
	if len(fs.Opened) != 1 || fs.Opened[0] != "b" {
		t.Fatalf("opened %v", fs.Opened)
	}
	s := tuitest.Stripped(p.frameText())
	for _, want := range []string{"› an old prompt", "an old answer", "✓ read x", "could not be read"} {
		if !strings.Contains(s, want) {
			t.Errorf("no %q:\n%s", want, s)
		}
	}
}

// A session is found by its messages, whichever of the search and the rows arrives first.
func TestSessionsAreFoundByTheirMessages(t *testing.T) {
	t.Parallel()
	for how, search := range map[string]func(p *program){
		"typed":           func(p *program) { press(p, "z", "e", "b", "r", "a") },
		"pasted":          func(p *program) { settleCmd(p, p.paste("zebra")) },
		"rows come later": func(p *program) {},
	} {
		t.Run(how, func(t *testing.T) {
			fs := &tuitest.Sessions{}
			p, _ := still(t, 80, 24, func(o *front.Options) { o.Sessions = fs })
			p.in.Insert("/resume")
			if how == "rows come later" {
				p.in.Insert(" zebra")
			}
			press(p, "enter")
			search(p)
			press(p, "enter")
			if len(fs.Opened) != 1 || fs.Opened[0] != "a" {
				t.Errorf("opened %v:\n%s", fs.Opened, tuitest.Stripped(p.frameText()))
			}
		})
	}
}

// Ctrl+R in the list renames the marked session, in a field that begins with its title. The list stays open.
func TestTheListRenamesASession(t *testing.T) {
	t.Parallel()
	fs := &tuitest.Sessions{}
	p, conv := still(t, 80, 24, func(o *front.Options) { o.Sessions = fs })
	p.state.Session = "a"
	screen := func(want ...string) {
		t.Helper()
		s := tuitest.Stripped(p.frameText())
		for _, w := range want {
			if !strings.Contains(s, w) {
				t.Fatalf("no %q on the screen:\n%s", w, s)
			}
		}
	}
	p.in.Insert("/resume")
	press(p, "enter")
	screen("ctrl+r rename", "ctrl+x delete")
	press(p, "down", "ctrl+r")
	screen("rename: beta", "enter rename · esc back", " › ", "alpha")
	press(p, "ctrl+u", "x", "esc")
	screen("search:", "beta")
	if len(fs.Renamed) > 0 {
		t.Fatalf("esc renamed %v", fs.Renamed)
	}
	press(p, "ctrl+r", "ctrl+u", "enter")
	screen("enter rename") // a session has a title
	p.paste("gam")
	press(p, "m", "a", "enter")
	screen("renamed beta", " ›   gamma", "search:")
	if fs.Renamed["b"] != "gamma" || len(fs.Opened) > 0 {
		t.Errorf("renamed %v, opened %v", fs.Renamed, fs.Opened)
	}
	press(p, "ctrl+r", "ctrl+u")
	p.paste("taken away")
	press(p, "enter")
	screen("✗ ", "gamma")
	press(p, "up", "ctrl+r", "!", "enter") // the open session tells its own title
	if got := conv.State().Title; got != "alpha!" || len(fs.Renamed) != 1 {
		t.Errorf("the open session is called %q, renamed %v", got, fs.Renamed)
	}
}
