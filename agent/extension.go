package agent

import (
	"context"
	"iter"
	"reflect"
	"slices"
	"strings"

	"jcode/agent/event"
	"jcode/session"
	"jcode/tools"
)

// Stop describes the moment at which the model stopped of its own accord.
type Stop struct {
	// Session is the ID of its session.
	Session string
	// Child is set for a sub-agent's conversation.
	Child bool
	// Again says that the turn has already been continued once because an extension asked for it.
	Again bool
	// Text is the model's last answer.
	Text string
	// Roles are the roles in force, the conversation's own first.
	Roles []string
}

// Extension is what one part of the program adds to its conversations: functions that are called at points of
// a conversation's life. Each may be nil. If several Extensions set one, all are called in order.
type Extension struct {
	// Ready waits until everything a first prompt needs is available (startup scripts); it obeys ctx.
	Ready func(ctx context.Context)
	// Admit judges a prompt before it is committed. context is what the model reads along with it; an error
	// refuses the prompt.
	Admit func(ctx context.Context, sessionID, prompt string) (context string, err error)
	// TurnStarted is called when a prompt was committed.
	TurnStarted func(event.TurnStart)
	// SkillGiven is called when a message with a skill's instructions was committed.
	SkillGiven func(sessionID, skill string)
	// Attach returns the content a prompt mentions, for the model to read with it; "" for none.
	Attach func(ctx context.Context, prompt string) string
	// Before runs before each step and may tell the model something ("skill x changed").
	Before func(ctx context.Context, sessionID string) Announcement
	// Scoped is called with the new scope at each switch.
	Scoped func(scope *tools.Scope)
	// Loaded is called when the history was read from the store, with its rows: after a resume, and after a
	// rewind removed messages.
	Loaded func(sessionID string, rows []session.Message)
	// Compacting is called before a compaction; an error keeps the history as it is.
	Compacting func(ctx context.Context, sessionID string, manual bool, keep string) error
	// Compacted is called when a summary has replaced a part of the history.
	Compacted func(ctx context.Context, sessionID string)
	// Stopping is called when the model stopped of its own accord: a non-empty result makes the model continue,
	// "" lets the turn end.
	Stopping func(ctx context.Context, s Stop) (goOn string)
	// Notes returns the notes from earlier sessions that a turn used; it is called when the turn ends.
	Notes func(event.TurnEnd) []event.Note
	// TurnEnded is called when a turn ends.
	TurnEnded func(event.TurnEnd)
}

// Extensions are the extensions of one conversation.
type Extensions []Extension

// Each yields what the members of a list have at a point, in order; those that have nothing there (a nil function) are
// passed over.
func Each[E, F any](list []E, point func(E) F) iter.Seq[F] {
	return func(yield func(F) bool) {
		for _, e := range list {
			if f := point(e); !reflect.ValueOf(f).IsNil() && !yield(f) {
				return
			}
		}
	}
}

func (l Extensions) waits() bool {
	return slices.ContainsFunc(l, func(e Extension) bool { return e.Ready != nil })
}

func (l Extensions) judges() bool {
	return slices.ContainsFunc(l, func(e Extension) bool { return e.Admit != nil })
}

func (l Extensions) ready(ctx context.Context) {
	for ready := range Each(l, func(e Extension) func(context.Context) { return e.Ready }) {
		ready(ctx)
	}
}

// admit calls all of them; the first that refuses a prompt ends it.
func (l Extensions) admit(ctx context.Context, id, prompt string) (string, error) {
	var told []string
	for admit := range Each(l, func(e Extension) func(context.Context, string, string) (string, error) { return e.Admit }) {
		text, err := admit(ctx, id, prompt)
		if err != nil {
			return "", err
		}
		if text != "" {
			told = append(told, text)
		}
	}
	return strings.Join(told, "\n"), nil
}

func (l Extensions) turnStarted(ev event.TurnStart) {
	for started := range Each(l, func(e Extension) func(event.TurnStart) { return e.TurnStarted }) {
		started(ev)
	}
}

func (l Extensions) skillGiven(id, skill string) {
	for given := range Each(l, func(e Extension) func(string, string) { return e.SkillGiven }) {
		given(id, skill)
	}
}

func (l Extensions) attach(ctx context.Context, prompt string) string {
	var texts []string
	for attach := range Each(l, func(e Extension) func(context.Context, string) string { return e.Attach }) {
		if text := attach(ctx, prompt); text != "" {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "\n")
}

func (l Extensions) scoped(scope *tools.Scope) {
	for scoped := range Each(l, func(e Extension) func(*tools.Scope) { return e.Scoped }) {
		scoped(scope)
	}
}

func (l Extensions) loaded(id string, rows []session.Message) {
	for loaded := range Each(l, func(e Extension) func(string, []session.Message) { return e.Loaded }) {
		loaded(id, rows)
	}
}

func (l Extensions) compacting(ctx context.Context, id string, manual bool, keep string) error {
	for compacting := range Each(l, func(e Extension) func(context.Context, string, bool, string) error { return e.Compacting }) {
		if err := compacting(ctx, id, manual, keep); err != nil {
			return err
		}
	}
	return nil
}

func (l Extensions) compacted(ctx context.Context, id string) {
	for compacted := range Each(l, func(e Extension) func(context.Context, string) { return e.Compacted }) {
		compacted(ctx, id)
	}
}

// stopping returns the first reason to continue.
func (l Extensions) stopping(ctx context.Context, s Stop) string {
	for stopping := range Each(l, func(e Extension) func(context.Context, Stop) string { return e.Stopping }) {
		if why := stopping(ctx, s); why != "" {
			return why
		}
	}
	return ""
}

func (l Extensions) notes(ev event.TurnEnd) (out []event.Note) {
	for notes := range Each(l, func(e Extension) func(event.TurnEnd) []event.Note { return e.Notes }) {
		out = append(out, notes(ev)...)
	}
	return out
}

func (l Extensions) turnEnded(ev event.TurnEnd) {
	for ended := range Each(l, func(e Extension) func(event.TurnEnd) { return e.TurnEnded }) {
		ended(ev)
	}
}
