//go:build linux || darwin

package tui

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"jcode/agent"
	"jcode/internal/testkit/terminal"
	"jcode/session"
	"jcode/tools"
	"jcode/tools/command"
)

func press(p *program, keys ...string) {
	for _, k := range keys {
		msg := tea.KeyPressMsg{Text: k}
		if r := []rune(k); len(r) == 1 {
			msg.Code = r[0]
		} else {
			msg = namedKey(k)
		}
		p.typing.last = time.Time{}
		settleCmd(p, p.route(msg))
	}
}

func namedKey(name string) tea.KeyPressMsg {
	switch name {
	case "enter":
		return tea.KeyPressMsg{Code: tea.KeyEnter}
	case "esc":
		return tea.KeyPressMsg{Code: tea.KeyEscape}
	case "up":
		return tea.KeyPressMsg{Code: tea.KeyUp}
	case "down":
		return tea.KeyPressMsg{Code: tea.KeyDown}
	case "tab":
		return tea.KeyPressMsg{Code: tea.KeyTab}
	case "backspace":
		return tea.KeyPressMsg{Code: tea.KeyBackspace}
	}
	if c, ok := strings.CutPrefix(name, "ctrl+"); ok {
		return tea.KeyPressMsg{Code: []rune(c)[0], Mod: tea.ModCtrl}
	}
	return tea.KeyPressMsg{Text: name, Code: tea.KeyExtended}
}

func TestApprovalCanBeEdited(t *testing.T) {
	t.Parallel()
	p, f := still(t, 80, 24, nil)
	q := approvalQuestion()
	q.Editable, q.Arguments = "cmd", jsonOf("cmd", "go test ./...", "dir", "x")
	feed(p, agent.ApprovalAsked{ID: "q", Question: q})
	p.asks[0].(*approval).open = true
	press(p, "e", "ctrl+u", "go vet", "enter")
	if s := stripped(p.frameText()); !strings.Contains(s, "go vet") || !strings.Contains(s, "as you edited it") {
		t.Errorf("the change does not show:\n%s", s)
	} else if strings.Contains(s, "session") || strings.Contains(s, "always") {
		t.Errorf("a grant for the command as it was is still offered:\n%s", s)
	}
	press(p, "y")
	a, ok := f.answered("q")
	if !ok || a.Scope != tools.AnswerOnce || a.Option != 0 || string(a.Arguments) != `{"cmd":"go vet","dir":"x"}` {
		t.Errorf("answer %+v %s", a, a.Arguments)
	}
}

func TestEditingNeverLosesBytes(t *testing.T) {
	t.Parallel()
	p, _ := still(t, 80, 24, nil)
	q := approvalQuestion()
	q.Editable, q.Arguments = "cmd", jsonOf("cmd", "printf '\x1b[1m\r'")
	feed(p, agent.ApprovalAsked{ID: "q", Question: q})
	p.asks[0].(*approval).open = true
	press(p, "e")
	if p.asks[0].(*approval).edit != nil {
		t.Error("an argument that the editor cannot hold is edited")
	}
}

func TestTabsInTheInputAreSent(t *testing.T) {
	t.Parallel()
	p, f := still(t, 80, 24, nil)
	p.paste("if x {\n\treturn\n}")
	press(p, "enter")
	if got := f.sent(); len(got) != 1 || got[0] != "if x {\n\treturn\n}" {
		t.Errorf("sent %q", got)
	}
}

func TestRewindGoesBackToAPrompt(t *testing.T) {
	t.Parallel()
	var ran []string
	p, _ := still(t, 80, 24, func(o *Options) {
		o.Commands = command.Set{Sources: []command.Source{commands{{Name: "rewind", Run: func(_ context.Context, args string) (command.Outcome, error) {
			ran = append(ran, args)
			return command.Outcome{Draft: "second"}, nil
		}}}}}
	})
	for i, s := range []string{"first", "second", "third"} {
		feed(p, agent.TurnStart{Prompt: s, Seq: int64(10 * (i + 1)), At: clock}, agent.TextDelta{Text: "answer to " + s}, agent.AssistantMessage{Text: "answer to " + s}, agent.TurnEnd{Reason: agent.StopDone})
	}
	p.in.Insert("/rewind")
	press(p, "enter", "down", "enter", "down", "down", "enter")
	if len(ran) != 1 || ran[0] != "2 both" {
		t.Fatalf("ran %q", ran)
	}
	feed(p, agent.Rewound{From: 20})
	if s := stripped(p.frameText()); strings.Contains(s, "answer to second") || !strings.Contains(s, "answer to first") || !strings.Contains(s, "› second") {
		t.Errorf("screen:\n%s", s)
	}
}

// fakeSessions gives sessions that a test looks at.
type fakeSessions struct {
	carried []bool
	opened  []string
	forked  []int64
	unknown bool // no session goes by any name
}

func (f *fakeSessions) List(_ context.Context, query string, _ bool) ([]session.Session, error) {
	if query != "" {
		if query != "zebra" {
			return nil, nil
		}
		return []session.Session{{ID: "a", Title: "alpha", Updated: time.Now()}}, nil // by its messages
	}
	return []session.Session{{ID: "a", Title: "alpha", Updated: time.Now()}, {ID: "b", Title: "beta", Updated: time.Now()}}, nil
}

func (f *fakeSessions) session(name string, rows ...session.Message) (Session, error) {
	c := newFake()
	c.state.Title = name
	return Session{Conversation: c, History: rows}, nil
}

func (f *fakeSessions) New(_ context.Context, carry bool) (Session, error) {
	f.carried = append(f.carried, carry)
	return f.session("new")
}

func (f *fakeSessions) Open(_ context.Context, id string) (Session, error) {
	f.opened = append(f.opened, id)
	if f.unknown {
		return Session{}, session.ErrNotFound
	}
	return f.session(id, session.Message{Seq: 1, Role: session.RoleUser, Parts: []session.Part{{Kind: session.PartText, Text: "an old prompt"}}},
		session.Message{
			Seq: 2, Role: session.RoleAssistant, Parts: []session.Part{{Kind: session.PartText, Text: "an **old** answer"}},
			Calls: []session.Call{{ID: "c", Name: "read", Arguments: `{"path":"x"}`, Status: session.StatusDone, Result: "text"}},
		},
		session.Message{Seq: 3, Role: session.RoleUser, Broken: "cut JSON"})
}

func (f *fakeSessions) Fork(_ context.Context, _ string, upTo int64) (Session, error) {
	f.forked = append(f.forked, upTo)
	return f.session("fork")
}
func (f *fakeSessions) Delete(context.Context, string) error { return nil }

func TestNewSessionOffersTheLastExchange(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]bool{"enter": false, "down": true} {
		fs := &fakeSessions{}
		p, _ := still(t, 80, 24, func(o *Options) { o.Sessions = fs })
		feed(p, agent.TurnStart{Prompt: "x", Seq: 1}, agent.TextDelta{Text: "y"}, agent.AssistantMessage{Text: "y"}, agent.TurnEnd{Reason: agent.StopDone})
		p.in.Insert("/new")
		press(p, "enter")
		if s := stripped(p.frameText()); !strings.Contains(s, "Carry the last exchange over") {
			t.Fatalf("not offered:\n%s", s)
		}
		press(p, answer)
		if answer == "down" {
			press(p, "enter")
		}
		if len(fs.carried) != 1 || fs.carried[0] != want {
			t.Errorf("%s: carried %v", answer, fs.carried)
		}
		if s := stripped(p.frameText()); strings.Contains(s, "› x") {
			t.Errorf("the old session still shows:\n%s", s)
		}
	}
}

// So does /session with a name that no session has yet; what was said below the answer
// makes no difference.
func TestSessionThatBeginsByNameOffersTheLastExchange(t *testing.T) {
	t.Parallel()
	fs := &fakeSessions{unknown: true}
	p, _ := still(t, 80, 24, func(o *Options) { o.Sessions = fs })
	feed(p, agent.TurnStart{Prompt: "x", Seq: 1}, agent.TextDelta{Text: "y"}, agent.AssistantMessage{Text: "y"}, agent.TurnEnd{Reason: agent.StopDone},
		agent.Notice{Text: "skills: changed"})
	p.in.Insert("/session fresh")
	press(p, "enter")
	if s := stripped(p.frameText()); !strings.Contains(s, "Carry the last exchange over") || len(fs.carried) > 0 {
		t.Fatalf("not offered:\n%s", s)
	}
	press(p, "down", "enter")
	if len(fs.carried) != 1 || !fs.carried[0] {
		t.Errorf("carried %v", fs.carried)
	}
	if got := p.conv.State().Title; got != "fresh" {
		t.Errorf("the session is called %q", got)
	}
}

func TestForkCountsPromptsAsRewindDoes(t *testing.T) {
	t.Parallel()
	fs := &fakeSessions{}
	p, _ := still(t, 80, 24, func(o *Options) { o.Sessions = fs })
	p.state.Session = "s"
	for i, said := range []string{"the first", "the second", "the third"} {
		feed(p, agent.TurnStart{Prompt: said, Seq: int64(10*i + 1)}, agent.TextDelta{Text: "y"}, agent.AssistantMessage{Text: "y"}, agent.TurnEnd{Reason: agent.StopDone})
	}
	p.in.Insert("/fork 7")
	press(p, "enter")
	if s := stripped(p.frameText()); len(fs.forked) > 0 || !strings.Contains(s, "2. the second") || !strings.Contains(s, "up to the answer to which prompt") {
		t.Fatalf("forked %v:\n%s", fs.forked, s)
	}
	for said, want := range map[string]int64{"/fork 2": 20, "/fork 3": 0, "/fork": 0} {
		fs.forked = nil
		q, _ := still(t, 80, 24, func(o *Options) { o.Sessions = fs })
		q.state.Session, q.tr = "s", p.tr
		q.in.Insert(said)
		press(q, "enter")
		if len(fs.forked) != 1 || fs.forked[0] != want {
			t.Errorf("%s: forked up to %v, want %d", said, fs.forked, want)
		}
	}
}

// The last exchange belongs to the role it was made in: with another one nothing is offered.
func TestNewSessionInAnotherRoleCarriesNothing(t *testing.T) {
	t.Parallel()
	fs := &fakeSessions{}
	p, _ := still(t, 80, 24, func(o *Options) { o.Sessions = fs })
	feed(p, agent.TurnStart{Prompt: "x", Seq: 1}, agent.TextDelta{Text: "y"}, agent.AssistantMessage{Text: "y"}, agent.TurnEnd{Reason: agent.StopDone},
		agent.StateChanged{State: agent.State{Role: "reviewer"}})
	p.in.Insert("/new")
	press(p, "enter")
	if len(fs.carried) != 1 || fs.carried[0] {
		t.Errorf("carried %v:\n%s", fs.carried, stripped(p.frameText()))
	}
}

// What is sent while another session is being opened is for that one, not for the one that
// is being left.
func TestPromptDuringASwitchGoesToTheNewSession(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		readOnly bool
		fail     error
	}{"new": {}, "from a session that is read only": {readOnly: true}, "that fails": {fail: errors.New("no such session")}} {
		t.Run(name, func(t *testing.T) {
			p, old := still(t, 80, 24, func(o *Options) { o.Sessions = &fakeSessions{} })
			p.state.ReadOnly = c.readOnly
			next := newFake()
			opened := p.switcher.switchTo(func(context.Context) (Session, error) { return Session{Conversation: next}, c.fail })
			press(p, "hello", "enter")
			if got := old.sent(); len(got) != 0 {
				t.Fatalf("the session that is being left got %q", got)
			}
			settleCmd(p, opened)
			if got := old.sent(); len(got) != 0 {
				t.Errorf("the session that was left got %q", got)
			}
			got, left := strings.Join(next.sent(), "|"), p.in.Text()
			if c.fail == nil && (got != "hello" || left != "") || c.fail != nil && (got != "" || left != "hello") {
				t.Errorf("the new session got %q, the input is %q", got, left)
			}
		})
	}
}

// The events of a rewind may come after the answer of the command that made it.
func TestAnswerOfARewindStaysWhicheverComesFirst(t *testing.T) {
	t.Parallel()
	for name, answerFirst := range map[string]bool{"answer first": true, "event first": false} {
		t.Run(name, func(t *testing.T) {
			p, _ := still(t, 80, 24, nil)
			feed(p, agent.TurnStart{Prompt: "go", Seq: 1}, agent.TextDelta{Text: "gone"}, agent.AssistantMessage{Text: "gone"}, agent.TurnEnd{Reason: agent.StopDone})
			answer := func() { p.outcome("/rewind 1", command.Outcome{Notice: "Rewound."}, nil) }
			if answerFirst {
				answer()
			}
			feed(p, agent.Rewound{From: 1})
			if !answerFirst {
				answer()
			}
			if s := stripped(p.frameText()); strings.Count(s, "Rewound.") != 1 || strings.Contains(s, "gone") {
				t.Errorf("screen:\n%s", s)
			}
		})
	}
}

func TestResumeShowsTheWholeSession(t *testing.T) {
	t.Parallel()
	fs := &fakeSessions{}
	p, _ := still(t, 80, 24, func(o *Options) { o.Sessions = fs })
	p.in.Insert("/resume")
	press(p, "enter", "b", "e", "t", "enter")
	if len(fs.opened) != 1 || fs.opened[0] != "b" {
		t.Fatalf("opened %v", fs.opened)
	}
	s := stripped(p.frameText())
	for _, want := range []string{"› an old prompt", "an old answer", "✓ read x", "could not be read"} {
		if !strings.Contains(s, want) {
			t.Errorf("no %q:\n%s", want, s)
		}
	}
}

// However the search and the rows come together, a session is found by its messages.
func TestSessionsAreFoundByTheirMessages(t *testing.T) {
	t.Parallel()
	for how, search := range map[string]func(p *program){
		"typed":           func(p *program) { press(p, "z", "e", "b", "r", "a") },
		"pasted":          func(p *program) { settleCmd(p, p.paste("zebra")) },
		"rows come later": func(p *program) {},
	} {
		t.Run(how, func(t *testing.T) {
			fs := &fakeSessions{}
			p, _ := still(t, 80, 24, func(o *Options) { o.Sessions = fs })
			p.in.Insert("/resume")
			if how == "rows come later" {
				p.in.Insert(" zebra")
			}
			press(p, "enter")
			search(p)
			press(p, "enter")
			if len(fs.opened) != 1 || fs.opened[0] != "a" {
				t.Errorf("opened %v:\n%s", fs.opened, stripped(p.frameText()))
			}
		})
	}
}

func TestViKeysMoveAndChange(t *testing.T) {
	t.Parallel()
	p, f := still(t, 80, 24, func(o *Options) { o.Vi = true })
	press(p, "one two three", "esc", "b", "d", "w", "0", "x", "A", "!", "esc", "d", "b", "u")
	if got := p.in.Text(); got != "ne two !" {
		t.Errorf("text %q", got)
	}
	press(p, "d", "d", "i", "i", "j", "enter")
	if got := f.sent(); len(got) != 1 || got[0] != "ij" {
		t.Errorf("sent %q", got)
	}
}

func TestViModesShow(t *testing.T) {
	t.Parallel()
	r := run(t, 80, 24, func(o *Options) { o.Vi = true }).ready()
	r.Type("one two")
	r.see("› one two")
	r.Press("esc")
	r.see(" normal ──")
	r.Type("2d")
	r.see(" normal 2d ──")
	r.Press("esc")
	r.see(" normal ──")
	r.Type("vb")
	r.see(" visual ──")
	if _, err := r.Wait(limit, func(s terminal.Screen) bool {
		x, y, ok := s.Find("two")
		return ok && s.Cell(x, y).Reverse && s.Cell(x+2, y).Reverse && !s.Cell(x-2, y).Reverse
	}); err != nil {
		t.Errorf("not just the selection is marked: %v", err)
	}
	r.Type("cTWO")
	r.see("› one TWO")
	r.gone("visual")
	r.Press("esc")
	r.see(" normal ──")
	r.Type("u")
	r.see("› one two")
	r.Press("enter")
	r.until("the prompt is sent", func() bool { return len(r.fake.sent()) == 1 })
	r.Type("dd")
	r.see("› dd") // a new prompt is written, whatever the mode was
}

func TestDraggedPictureBecomesAMention(t *testing.T) {
	t.Parallel()
	p, f := still(t, 80, 24, func(o *Options) {
		o.Image = func(path string) (string, []byte, error) { return "image/png", []byte(path), nil }
	})
	p.paste(`'/home/u/my shot.png'`)
	press(p, "what is this?", "enter")
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.prompts) != 1 || len(f.prompts[0].Images) != 1 || string(f.prompts[0].Images[0].Data) != "/home/u/my shot.png" {
		t.Errorf("prompts %+v", f.prompts)
	}
}

func TestKeysCanBeRebound(t *testing.T) {
	t.Parallel()
	km, problems := newKeymap(map[string][]string{"editor": {"ctrl+r"}, "nope": {"x"}, "undo": {"Shift+Ctrl+Z"}})
	if km.of("ctrl+r") != actEditor {
		t.Errorf("ctrl+r does %q", km.of("ctrl+r"))
	}
	if km.of("ctrl+shift+z") != actUndo || km.of("ctrl+_") != "" {
		t.Error("undo is not where it was put")
	}
	all := strings.Join(problems, "\n")
	for _, want := range []string{`unknown action "nope"`, "ctrl+r is bound to both editor and history_search; it does editor"} {
		if !strings.Contains(all, want) {
			t.Errorf("no %q in %q", want, all)
		}
	}
	if _, problems := newKeymap(nil); len(problems) != 0 {
		t.Errorf("the table itself has conflicts: %v", problems)
	}
}

// fakeHistory keeps prompts and the draft.
type fakeHistory struct {
	mu    sync.Mutex
	added []string
	draft string
}

func (h *fakeHistory) Recent(context.Context) ([]string, error) {
	return []string{"newest", "older"}, nil
}

func (h *fakeHistory) Add(_ context.Context, s string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.added = append(h.added, s)
	return nil
}

func (h *fakeHistory) SetDraft(_ context.Context, s string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.draft = s
	return nil
}

// A command may open another session, which looks for a draft: its own line is none by then.
func TestCommandRunsWhenItsDraftIsGone(t *testing.T) {
	t.Parallel()
	h := &fakeHistory{}
	left := make(chan string, 1)
	r := run(t, 80, 24, func(o *Options) {
		o.History = h
		o.Commands = command.Set{Sources: []command.Source{commands{{Name: "other", Run: func(context.Context, string) (command.Outcome, error) {
			h.mu.Lock()
			defer h.mu.Unlock()
			left <- h.draft
			return command.Outcome{}, nil
		}}}}}
	}).ready()
	r.Type("/other")
	for deadline := time.Now().Add(limit); ; time.Sleep(5 * time.Millisecond) { // between two looks
		h.mu.Lock()
		kept := h.draft
		h.mu.Unlock()
		if kept == "/other" {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the draft is %q", kept)
		}
	}
	r.Press("enter")
	select {
	case got := <-left:
		if got != "" {
			t.Errorf("when the command ran the draft was %q", got)
		}
	case <-time.After(limit):
		t.Fatal("the command did not run")
	}
}

func TestQueuedCommandsComeBackAsTheyWereTyped(t *testing.T) {
	t.Parallel()
	p, _ := still(t, 80, 24, nil)
	p.giveBack([]agent.Prompt{{Text: "all of a skill", Shown: "/greeting you"}, {Text: "what is this", Role: "explain"}, {Text: "plain"}})
	if got := p.in.Text(); got != "/greeting you\n/role explain what is this\nplain" {
		t.Errorf("given back: %q", got)
	}
}

func TestUpPressedBeforeTheHistoryIsReadCounts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		keys, after []string
		want        string
	}{
		"one step":               {keys: []string{"up"}, want: "newest"},
		"two steps":              {keys: []string{"up", "up"}, want: "older"},
		"there and back":         {keys: []string{"up", "up", "down"}, want: "newest"},
		"more than there is":     {keys: []string{"up", "up", "up", "up"}, want: "older"},
		"the draft is kept":      {keys: []string{"a", "up"}, after: []string{"down"}, want: "a"},
		"written since":          {keys: []string{"up", "a"}, want: "a"},
		"own prompts come first": {keys: []string{"own", "enter", "up", "up"}, want: "newest"},
		"among own prompts":      {keys: []string{"own", "enter", "up"}, want: "own"},
		"newer than an own one":  {keys: []string{"own", "enter", "x", "up"}, after: []string{"down"}, want: "x"},
	} {
		t.Run(name, func(t *testing.T) {
			p, _ := still(t, 80, 24, func(o *Options) { o.History = &fakeHistory{} })
			load := p.loadHistory()
			press(p, c.keys...)
			settleCmd(p, load)
			press(p, c.after...)
			if got := p.in.Text(); got != c.want {
				t.Errorf("the input is %q, want %q", got, c.want)
			}
		})
	}
}

// Who sees that an action is done, and acts again at once, acts on the row as it is now.
func TestPanelsShowAnOutcomeTogetherWithTheNewRows(t *testing.T) {
	t.Parallel()
	state := "on"
	p, _ := still(t, 80, 24, func(o *Options) {
		o.Panels = []Panel{{
			Name: "switches", Title: "Switches",
			Rows: func(context.Context) ([]Row, error) {
				return []Row{{ID: "a", Name: "lamp", State: state}}, nil
			},
			Actions: []Action{{Label: "switch", Run: func(_ context.Context, r Row) (string, error) {
				state = map[string]string{"on": "off", "off": "on"}[r.State]
				return "lamp is now " + state, nil
			}}},
		}}
	})
	p.in.Insert("/switches")
	press(p, "enter")
	pk, ok := p.front().(*picker)
	if !ok {
		t.Fatalf("no panel: %s", stripped(p.frameText()))
	}
	for _, want := range []string{"off", "on"} {
		for cmd := pk.choose(p, Row{}); cmd != nil; { // frame by frame
			next, ok := cmd().(do)
			if !ok {
				break
			}
			cmd = p.route(next)
			if r, _ := pk.current(); strings.Contains(pk.note, "lamp is now") && !strings.HasSuffix(pk.note, r.State) {
				t.Errorf("%q shows while the row is %q", pk.note, r.State)
			}
		}
		if r, _ := pk.current(); r.State != want || pk.note != "lamp is now "+want {
			t.Errorf("the row is %q, the note %q, want %q", r.State, pk.note, want)
		}
	}
}

func TestDraftIsKeptWhenLeaving(t *testing.T) {
	t.Parallel()
	h := &fakeHistory{}
	r := run(t, 80, 24, func(o *Options) { o.History = h }).ready()
	r.Press("up", "up")
	r.see("› older")
	r.Press("down", "down")
	r.see("ask for something")
	r.Type("unfinished business")
	r.see("› unfinished business")
	r.stop()
	select {
	case err := <-r.done:
		r.done <- err
	case <-time.After(limit):
		t.Fatal("does not end")
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.draft != "unfinished business" {
		t.Errorf("draft %q", h.draft)
	}
}

func TestManyFilesAreFoundWithoutAPause(t *testing.T) {
	t.Parallel()
	var names []string
	for i := range 50000 {
		names = append(names, "pkg/module"+itoa(i%300)+"/sub/file_"+itoa(i)+".go")
	}
	var f fileIndex
	for deadline := time.Now().Add(limit); ; { // a busy machine may hold one search up, not each
		f = fileIndex{}
		f.set(listFiles(names), nil)
		start := time.Now()
		hits := f.find("file_49999")
		took := time.Since(start)
		if len(hits) == 0 || f.all[hits[0]] != names[49999] {
			t.Fatal("not found")
		}
		if took < time.Second {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("a search over 50,000 files took %s", took)
		}
	}
	if hits := f.find("file_49999.go"); len(hits) != 1 {
		t.Errorf("narrowing gives %d", len(hits))
	}
	if hits := f.find("module7/"); len(hits) == 0 {
		t.Error("another search after a narrow one finds nothing")
	}
}

// bigTranscript makes a program with n turns in its transcript.
func bigTranscript(t testing.TB, n int) *program {
	p, _ := still(t, 120, 40, nil)
	for i := range n {
		feed(p, agent.TurnStart{Prompt: "prompt " + itoa(i), Seq: int64(i + 1), At: clock},
			agent.CallStart{ID: itoa(i), Name: "read", Arguments: jsonOf("path", "x.go"), At: clock},
			agent.CallEnd{ID: itoa(i), Name: "read", Status: "done", Result: tools.Result{Text: "y"}},
			agent.TextDelta{Text: sampleAnswer}, agent.AssistantMessage{Text: sampleAnswer}, agent.TurnEnd{Reason: agent.StopDone})
	}
	return p
}

func TestFrameDoesNotDependOnTheTranscript(t *testing.T) {
	allocs := func(n int) float64 {
		p := bigTranscript(t, n)
		p.compose.build()
		return testing.AllocsPerRun(50, func() { p.compose.build() })
	}
	small, big := allocs(25), allocs(2500)
	t.Attr("allocations-ratio", fmt.Sprintf("%.3f", big/small))
	if big > small*1.2+10 {
		t.Errorf("a frame allocates %.0f times at 10,000 items, %.0f at 100", big, small)
	}
}

func BenchmarkFrame(b *testing.B) {
	for _, n := range []int{25, 2500} { // four items each
		b.Run(itoa(n*4)+"items", func(b *testing.B) {
			p := bigTranscript(b, n)
			p.compose.build()
			b.ReportAllocs()
			for b.Loop() {
				p.compose.build()
			}
		})
	}
}

func BenchmarkScroll(b *testing.B) {
	p := bigTranscript(b, 2500)
	p.compose.build()
	i := 0
	for b.Loop() {
		n := -3
		if i++; i%2000 > 1000 {
			n = 3
		}
		p.tr.scroll(&p.look, n)
		p.compose.build()
	}
}

func BenchmarkKeyToFrame500Lines(b *testing.B) {
	p, _ := still(b, 120, 40, nil)
	p.in.SetText(strings.TrimSuffix(strings.Repeat("a line of the input that is about sixty characters long, yes\n", 500), "\n"))
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		i++
		if i%40 == 0 {
			p.in.Newline()
		}
		p.route(tea.KeyPressMsg{Text: "x", Code: 'x'})
		p.compose.build()
	}
}

func BenchmarkStreamedDelta(b *testing.B) {
	p, _ := still(b, 120, 40, nil)
	feed(p, agent.TurnStart{Prompt: "x"})
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		i++
		s := "some words "
		if i%12 == 0 {
			s = "and an end.\n\n"
		}
		feed(p, agent.TextDelta{Text: s})
		p.compose.build()
	}
}

func BenchmarkFindFiles50000(b *testing.B) {
	var names []string
	for i := range 50000 {
		names = append(names, "pkg/module"+itoa(i%300)+"/sub/file_"+itoa(i)+".go")
	}
	var f fileIndex
	f.set(listFiles(names), nil)
	for b.Loop() {
		f.hits = nil
		f.find("mod7fi9")
	}
}

func BenchmarkResume10000Messages(b *testing.B) {
	rows := make([]session.Message, 10000)
	for i := range rows {
		rows[i] = session.Message{Seq: int64(i), Role: session.RoleAssistant, Parts: []session.Part{{Kind: session.PartText, Text: sampleAnswer}}}
		if i%2 == 0 {
			rows[i].Role = session.RoleUser
		}
	}
	for b.Loop() {
		p, _ := still(b, 120, 40, nil)
		p.tr.addHistory(rows, nil)
		p.compose.build()
	}
}

func TestTheCursorStaysInTheInputWhateverElseIsWritten(t *testing.T) {
	t.Parallel()
	r := run(t, 80, 24, nil).ready()
	at := func() (x, y int) { s := r.Screen(); return s.CursorX, s.CursorY }
	r.until("cursor in the input", func() bool { x, y := at(); return x == 2 && y > 0 })
	_, row := at()
	// Bubble Tea draws its blank frame and asks the terminal a second after the start.
	for deadline := time.Now().Add(2500 * time.Millisecond); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if s := r.Settle(30*time.Millisecond, time.Second); s.CursorX != 2 || s.CursorY != row {
			t.Fatalf("the cursor is at %d,%d", s.CursorX, s.CursorY)
		}
	}
}

func TestAKeyIsWhatItIsOnAnyLayout(t *testing.T) {
	t.Parallel()
	r := run(t, 80, 24, nil).ready()
	if !strings.Contains(r.Output(), "\x1b[>5u") {
		t.Error("alternate keys are not asked for")
	}
	r.Type("слово")
	r.see("› слово")
	r.Type("\x1b[1089::99;5u") // Ctrl+C
	r.see("ask for something")
	r.Type("слово")
	r.see("› слово")
	r.Type("\x1b[1089;5u") // the same without the alternate key
	r.see("ask for something")
	r.fake.emit(agent.ApprovalAsked{ID: "q1", Question: approvalQuestion()})
	r.see("yes, once")
	r.Type("н") // the key of y
	r.until("answer", func() bool { a, ok := r.fake.answered("q1"); return ok && a.Scope == tools.AnswerOnce })
}

func TestPiecesOfReportsNeverBecomeText(t *testing.T) {
	t.Parallel()
	r := run(t, 80, 24, nil).ready()
	for _, seq := range [][2]string{{"\x1b]11;rgb:0000/0000/0000\x1b", "\\"}, {"\x1b]11;rgb:00", "00/0000/0000\a"}, {"\x1b[<35;1", "0;10M"}, {"\x1b[", "I"}, {"\xe6\xbc", "\xa2"}} {
		r.Type(seq[0])
		time.Sleep(120 * time.Millisecond) // the pause is the test
		r.Type(seq[1])
	}
	r.Type("end")
	if s := r.see("漢end"); !s.Contains("› 漢end") {
		t.Errorf("something was typed:\n%s", s.Text())
	}
}

func TestAPasteThatLostItsEndLeavesTheKeyboardAlive(t *testing.T) {
	t.Parallel()
	r := run(t, 80, 24, nil).ready()
	r.Type("\x1b[200~lost")
	r.see("› lost") // ended by itself
	r.Type("!")
	r.see("› lost!")
	r.Type("\x1b[200~again")
	time.Sleep(50 * time.Millisecond)
	r.Type("\x03") // Ctrl+C ends it and clears the input
	r.see("ask for something")
}

func TestAPasteGoesToTheInputWhileAQuestionIsOpen(t *testing.T) {
	t.Parallel()
	p, f, a := asked(t, 80, 24, approvalQuestion())
	p.in.SetText("a draft ")
	p.paste("pasted\ntext")
	if got := p.in.Text(); got != "a draft pasted\ntext" {
		t.Errorf("the input holds %q", got)
	}
	if a.open {
		t.Error("an Enter right behind the paste answers the question")
	}
	if _, ok := f.answered("q"); ok {
		t.Error("the paste answers")
	}
	a.open = true
	press(p, "w")
	p.paste("because")
	if got := a.word.ed.Text(); got != "because" {
		t.Errorf("the word is %q", got)
	}
	v := newTrust(Trust{Folder: "/x"})
	p, _ = still(t, 80, 24, nil)
	p.ask(v)
	v.open = true
	if p.paste("draft"); p.in.Text() != "draft" {
		t.Errorf("the input holds %q", p.in.Text())
	}
}
