package backgroundcli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"jcode/agent"
	"jcode/agent/event"
	"jcode/cli/core"
	"jcode/internal/ptty"
	"jcode/internal/text"
	"jcode/tools/command"
)

// Detached ends a chat that goes on in the background. Then is the process that the terminal shows next, 0 for none.
type Detached struct {
	Session, Mode, Model string
	Then                 int
}

func (e *Detached) Error() string { return "the session goes on in the background" }

// detachCommand is /detach.
type detachCommand struct {
	here  *Terminal
	chat  Chat
	leave context.CancelCauseFunc
	waits *detachWait
}

// detachWait is a /detach that waits for the end of the turn.
type detachWait struct {
	mu   sync.Mutex
	stop context.CancelFunc // nil while none waits
}

// DetachCommand returns /detach in a chat, which leave ends. here is nil in a terminal of its own.
func DetachCommand(here *Terminal, c Chat, leave context.CancelCauseFunc) command.Source {
	return detachCommand{here, c, leave, &detachWait{}}
}

// List implements command.Source.
func (d detachCommand) List() []command.Command {
	if !ptty.Supported {
		return nil
	}
	return []command.Command{{
		Name: "detach", Hint: detachVerbs().Hint(), Run: d.run, Verbs: detachVerbs(),
		Description: "let the session go on in the background: jcode attach shows it again",
	}}
}

// detachVerbs are the words of /detach.
func detachVerbs() command.Verbs {
	return command.Verbs{
		{Name: "anyway", Help: "go on in the background without what can't come along"},
		{Name: "stay", Help: "stay here after all, while /detach waits for the end of the turn"},
	}
}

func (d detachCommand) run(_ context.Context, args string) (command.Outcome, error) {
	if d.here != nil {
		d.here.Detach()
		return command.Outcome{}, nil
	}
	switch args = strings.TrimSpace(args); args {
	case "stay":
		if d.waits.end() {
			return command.Outcome{Notice: "The session stays here."}, nil
		}
		return command.Outcome{}, errors.New("no /detach waits")
	case "", "anyway":
	default:
		return command.Outcome{}, fmt.Errorf("/detach %s: say anyway, stay, or nothing", args)
	}
	conv := d.chat.Open()
	switch {
	case conv == nil || conv.ID() == "" && !conv.Private():
		return command.Outcome{}, errors.New("the session is empty: jcode --detachable begins a session in the background")
	case conv.Private():
		return command.Outcome{}, fmt.Errorf("%w, so the conversation can't move to another process", core.ErrPrivate)
	case conv.State().ReadOnly:
		return command.Outcome{}, errors.New("this session is open in another jcode and read-only here")
	}
	if left := d.leftBehind(conv); len(left) > 0 && args != "anyway" {
		return command.Outcome{}, fmt.Errorf("the session would go on without %s: end them, or /detach anyway", strings.Join(left, ", "))
	}
	if !conv.State().Busy && len(conv.Queue()) == 0 {
		d.move(conv)
		return command.Outcome{}, nil
	}
	ctx, begun := d.waits.begin()
	if !begun {
		return command.Outcome{Notice: "It waits for the end of the turn already; /detach stay keeps the session here."}, nil
	}
	events := conv.Subscribe() // ends with the conversation
	go d.after(ctx, conv, events)
	return command.Outcome{Notice: "The session goes on in the background when this turn has ended; /detach stay keeps it here."}, nil
}

// begin begins a wait, if there is none.
func (w *detachWait) begin() (ctx context.Context, begun bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stop != nil {
		return nil, false
	}
	ctx, w.stop = context.WithCancel(context.Background())
	return ctx, true
}

// end ends the wait, and reports whether there was one.
func (w *detachWait) end() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stop == nil {
		return false
	}
	w.stop()
	w.stop = nil
	return true
}

// after leaves when the conversation has nothing more to do.
func (d detachCommand) after(ctx context.Context, conv *agent.Conversation, events *event.Subscription) {
	defer events.Close()
	for {
		ev, more := events.Next(ctx)
		if !more {
			if ctx.Err() == nil { // the conversation was closed: the next one may wait, too
				d.waits.end()
			}
			return
		}
		if _, ended := ev.(event.TurnEnd); ended && !conv.State().Busy && len(conv.Queue()) == 0 {
			d.move(conv)
			return
		}
	}
}

// move ends the chat here.
func (d detachCommand) move(conv *agent.Conversation) { d.moveFor(conv, 0) }

// moveFor ends the chat here, and has the terminal show another process.
func (d detachCommand) moveFor(conv *agent.Conversation, then int) {
	d.leave(&Detached{Session: conv.ID(), Mode: string(conv.Mode()), Model: conv.OwnModel(), Then: then})
}

// leftBehind names what does not come along.
func (d detachCommand) leftBehind(conv *agent.Conversation) (out []string) {
	for _, j := range d.chat.Jobs() {
		if j.Ended.IsZero() {
			out = append(out, fmt.Sprintf("job %d (%s)", j.ID, text.Headline(text.Visible(j.Command))))
		}
	}
	for _, s := range conv.Agents().List() {
		if s.Running() {
			out = append(out, "agent "+text.Visible(s.Name))
		}
	}
	return slices.Clip(out)
}
