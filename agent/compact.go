package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"jcode/agent/event"
	"jcode/agent/model"
	"jcode/session"
	"jcode/tools"
)

// defaultCompactAt is the share of the window at which the history is compacted.
const defaultCompactAt = 0.85

const (
	defaultWindow = 128_000
	growthFactor  = 1.25
)

// compactor keeps a history within the model's window.
type compactor struct {
	out     *outgoing
	model   Model
	at      float64 // the share of the window at which it compacts
	session string
	plan    []tools.TodoItem
	few     []model.Message // examples of the role, which precede the history
	ext     Extensions
	emit    func(event.Event)
	// keep stores a summary that stands for the messages up to a sequence number; count is told what it cost.
	keep  func(ctx context.Context, summary session.Message, upTo int64) (seq int64, err error)
	count func(u *session.Usage)
}

// compactor returns what compacts the history now.
func (c *Conversation) compactor() *compactor {
	c.mu.Lock()
	defer c.mu.Unlock()
	return &compactor{
		out: &c.out, model: c.settings.model, at: c.opt.CompactAt, session: c.record.row.ID, plan: c.todo, few: c.settings.role.FewShot, ext: c.opt.Extensions,
		emit: c.emit, keep: c.opt.Store.History().Compact, count: func(u *session.Usage) { countBeside(c, u) },
	}
}

// Compact summarises the history now. keep says what the summary must retain; "" leaves that to the model.
// Cancelling ctx leaves the history unchanged.
func (c *Conversation) Compact(ctx context.Context, keep string) error {
	return c.do(ctx, func(work context.Context) error {
		work, cancel := context.WithCancel(work)
		defer cancel()
		stop := context.AfterFunc(ctx, cancel)
		defer stop()
		c.mu.Lock()
		c.inbox.interrupt, c.state.Busy = cancel, true
		c.mu.Unlock()
		c.emitState()
		defer func() {
			c.mu.Lock()
			c.inbox.interrupt, c.state.Busy = nil, false
			c.mu.Unlock()
			c.emitState()
		}()
		k := c.compactor()
		if err := k.announce(work, true, keep); err != nil {
			return err
		}
		return k.compact(work, keep, false)
	})
}

// ifFull compacts when the next request would exceed the limit. After a compaction that could save
// nothing more it waits until the history has grown by a quarter.
func (k *compactor) ifFull(ctx context.Context, offered []tools.Entry) error {
	window := k.model.Window
	if window <= 0 {
		return nil
	}
	size := k.out.measured.Expect(k.out.system, definitions(offered), &k.out.history)
	if float64(size) < k.at*float64(window) || float64(size) < growthFactor*float64(k.out.compacted) {
		return nil
	}
	err := k.announce(ctx, false, "")
	if err == nil {
		err = k.compact(ctx, "", false)
	}
	if errors.Is(err, errNothingToCompact) {
		return nil
	}
	if err != nil && ctx.Err() == nil {
		k.out.compacted = size // not again at every step
		k.emit(event.Notice{Level: event.LevelWarn, Text: fmt.Sprintf("compaction failed, continuing with the whole history: %v", err)})
		return nil
	}
	return err
}

// overflow compacts after the provider refused a request as too long.
func (k *compactor) overflow(ctx context.Context, refusal error) error {
	err := k.compact(ctx, "", true)
	switch {
	case errors.Is(err, errNothingToCompact) && k.baseTooLarge():
		window := k.model.Window
		return fmt.Errorf("the model's context window of %d tokens is too small for what goes with every request: the system prompt takes about %d tokens, the tools about %d. "+
			"Raise the server's context length, choose a model with a larger window, or leave tools out with a role that names few (%w)",
			window, model.EstimateText(k.out.system), k.out.measured.Tools(), refusal)
	case errors.Is(err, errNothingToCompact):
		return fmt.Errorf("the message does not fit the model's context window, and there is nothing to compact: send less at once, or use a model with a larger window (%w)", refusal)
	case err != nil:
		return fmt.Errorf("the conversation does not fit the model's context window, and compaction failed: %w", err)
	}
	return nil
}

// baseTooLarge reports whether the system prompt and the tools alone nearly fill the window.
func (k *compactor) baseTooLarge() bool {
	window := k.model.Window
	return window > 0 && float64(model.EstimateText(k.out.system)+k.out.measured.Tools()) > 0.8*float64(window)
}

var errNothingToCompact = errors.New("there is nothing to compact: the history is only the latest exchange")

// announce announces a compaction.
func (k *compactor) announce(ctx context.Context, manual bool, keep string) error {
	return k.ext.compacting(ctx, k.session, manual, keep)
}

// compact shrinks old tool results, then replaces everything but the tail with a summary. What it replaces is
// archived, never deleted.
func (k *compactor) compact(ctx context.Context, keep string, shrink bool) error {
	m := k.model
	window := m.Window
	if window <= 0 {
		window = defaultWindow
	}
	before := k.out.measured.Expect(k.out.system, nil, &k.out.history)
	if shrink { // the request was refused: the real window is smaller than this history
		window = min(window, max(before, k.out.history.Tokens()))
	}
	cut := k.out.history.Tail(window)
	if shrink {
		k.shrinkResults(cut)
	}
	if k.out.history.LastOf(cut) == 0 { // nothing, or only a summary
		if shrink && k.shrinkResults(k.out.history.Len()) { // one long exchange: nothing else can be done
			return nil
		}
		return errNothingToCompact
	}
	k.emit(event.Compacting{})
	summary, usage, err := k.summarise(ctx, cut, keep, window, !shrink)
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	summary += planText(k.plan)
	upTo := k.out.history.LastOf(cut)
	seq, err := k.keep(context.WithoutCancel(ctx), session.Message{
		Session: k.session, Role: session.RoleSummary, Usage: usage,
		Parts: []session.Part{{Kind: session.PartText, Text: summary}, {Kind: session.PartRange, Text: fmt.Sprintf("1-%d", upTo)}},
	}, upTo)
	if err != nil {
		return fmt.Errorf("store summary: %w", err)
	}
	k.out.history.Summarised(seq, summary, cut)
	k.out.measured.Forget()
	k.out.prompted, k.out.rebuilt = false, true // from here on
	k.out.listing.forget()
	k.ext.compacted(ctx, k.session)
	after := k.out.measured.Expect(k.out.system, nil, &k.out.history)
	if shrink && float64(after) > k.at*float64(window) && k.shrinkResults(k.out.history.Len()) {
		after = k.out.measured.Expect(k.out.system, nil, &k.out.history) // the part that is kept was too large by itself
	}
	k.out.compacted = after
	k.emit(event.Compacted{BeforeTokens: before, AfterTokens: after})
	return nil
}

// planText renders the plan for a summary, verbatim.
func planText(items []tools.TodoItem) string {
	if len(items) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n\nThe plan as it stands (todo):")
	for _, it := range items {
		fmt.Fprintf(&b, "\n- [%s] %s", it.Status, it.Text)
	}
	return b.String()
}

// shrinkResults truncates the results of calls before an index, and reports whether there was anything to
// truncate.
func (k *compactor) shrinkResults(upTo int) (shrunk bool) {
	shrunk = k.out.history.Shrink(upTo)
	k.out.measured.Forget()
	k.out.rebuilt = k.out.rebuilt || shrunk
	return shrunk
}
