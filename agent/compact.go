package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"jcode/agent/event"
	"jcode/agent/history"
	"jcode/agent/model"
	"jcode/internal/text"
	"jcode/session"
	"jcode/tools"
)

// defaultCompactAt is the share of the window at which the history is compacted.
const defaultCompactAt = 0.85

const (
	defaultWindow = 128_000
	growthFactor  = 1.25
)

// compaction is the part of a conversation that keeps the history within the model's window.
// The conversation's goroutine owns it.
type compaction struct {
	c        *Conversation
	measured history.Measure
	// compacted is the expected size after the last compaction, 0 before the first.
	compacted int
}

// compactIfFull compacts when the next request would exceed the limit. After a compaction that could save
// nothing more it waits until the history has grown by a quarter.
func (k *compaction) compactIfFull(ctx context.Context, offered []tools.Entry) error {
	window := k.c.Window()
	if window <= 0 {
		return nil
	}
	size := k.measured.Expect(k.c.system, definitions(offered), &k.c.history)
	if float64(size) < k.c.opt.CompactAt*float64(window) || float64(size) < growthFactor*float64(k.compacted) {
		return nil
	}
	err := k.compacting(ctx, false, "")
	if err == nil {
		err = k.compact(ctx, "", false)
	}
	if errors.Is(err, errNothingToCompact) {
		return nil
	}
	if err != nil && ctx.Err() == nil {
		k.compacted = size // not again at every step
		k.c.Notify(event.LevelWarn, "compaction failed, continuing with the whole history: %v", err)
		return nil
	}
	return err
}

// compactOverflow compacts after the provider refused a request as too long.
func (k *compaction) compactOverflow(ctx context.Context, refusal error) error {
	err := k.compact(ctx, "", true)
	switch {
	case errors.Is(err, errNothingToCompact) && k.baseTooLarge():
		window := k.c.Window()
		return fmt.Errorf("the model's context window of %d tokens is too small for what goes with every request: the system prompt takes about %d tokens, the tools about %d. "+
			"Raise the server's context length, choose a model with a larger window, or leave tools out with a role that names few (%w)",
			window, model.EstimateText(k.c.system), k.measured.Tools(), refusal)
	case errors.Is(err, errNothingToCompact):
		return fmt.Errorf("the message does not fit the model's context window, and there is nothing to compact: send less at once, or use a model with a larger window (%w)", refusal)
	case err != nil:
		return fmt.Errorf("the conversation does not fit the model's context window, and compaction failed: %w", err)
	}
	return nil
}

// baseTooLarge reports whether the system prompt and the tools alone nearly fill the window.
func (k *compaction) baseTooLarge() bool {
	window := k.c.Window()
	return window > 0 && float64(model.EstimateText(k.c.system)+k.measured.Tools()) > 0.8*float64(window)
}

var errNothingToCompact = errors.New("there is nothing to compact: the history is only the latest exchange")

// Compact summarises the history now. keep says what the summary must retain; "" leaves that to the model.
// Cancelling ctx leaves the history unchanged.
func (k *compaction) Compact(ctx context.Context, keep string) error {
	return k.c.do(ctx, func(work context.Context) error {
		work, cancel := context.WithCancel(work)
		defer cancel()
		stop := context.AfterFunc(ctx, cancel)
		defer stop()
		k.c.mu.Lock()
		k.c.interrupt, k.c.state.Busy = cancel, true
		k.c.mu.Unlock()
		k.c.emitState()
		defer func() {
			k.c.mu.Lock()
			k.c.interrupt, k.c.state.Busy = nil, false
			k.c.mu.Unlock()
			k.c.emitState()
		}()
		if err := k.compacting(work, true, keep); err != nil {
			return err
		}
		return k.compact(work, keep, false)
	})
}

// compacting announces a compaction.
func (k *compaction) compacting(ctx context.Context, manual bool, keep string) error {
	return k.c.opt.Extensions.compacting(ctx, k.c.row.ID, manual, keep)
}

// compact shrinks old tool results, then replaces everything but the tail with a summary. What it replaces is
// archived, never deleted.
func (k *compaction) compact(ctx context.Context, keep string, shrink bool) error {
	m := k.c.current()
	window := m.Window
	if window <= 0 {
		window = defaultWindow
	}
	before := k.measured.Expect(k.c.system, nil, &k.c.history)
	if shrink { // the request was refused: the real window is smaller than this history
		window = min(window, max(before, k.c.history.Tokens()))
	}
	cut := k.c.history.Tail(window)
	if shrink {
		k.shrinkResults(cut)
	}
	if k.c.history.LastOf(cut) == 0 { // nothing, or only a summary
		if shrink && k.shrinkResults(k.c.history.Len()) { // one long exchange: nothing else can be done
			return nil
		}
		return errNothingToCompact
	}
	k.c.emit(event.Compacting{})
	summary, usage, err := k.summarise(ctx, m, k.c.history.Messages()[:cut], keep, window)
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	summary += planText(k.c.Todo())
	upTo := k.c.history.LastOf(cut)
	seq, err := k.c.opt.Store.History().Compact(context.WithoutCancel(ctx), session.Message{
		Session: k.c.row.ID, Role: session.RoleSummary, Usage: usage,
		Parts: []session.Part{{Kind: session.PartText, Text: summary}, {Kind: session.PartRange, Text: fmt.Sprintf("1-%d", upTo)}},
	}, upTo)
	if err != nil {
		return fmt.Errorf("store summary: %w", err)
	}
	k.c.history.Summarised(seq, summary, cut)
	k.measured.Forget()
	k.c.prompted, k.c.rebuilt = false, true // from here on
	k.c.listing.forget()
	k.c.opt.Extensions.compacted(ctx, k.c.row.ID)
	after := k.measured.Expect(k.c.system, nil, &k.c.history)
	if shrink && float64(after) > k.c.opt.CompactAt*float64(window) && k.shrinkResults(k.c.history.Len()) {
		after = k.measured.Expect(k.c.system, nil, &k.c.history) // the part that is kept was too large by itself
	}
	k.compacted = after
	k.c.emit(event.Compacted{BeforeTokens: before, AfterTokens: after})
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
func (k *compaction) shrinkResults(upTo int) (shrunk bool) {
	shrunk = k.c.history.Shrink(upTo)
	k.measured.Forget()
	k.c.rebuilt = k.c.rebuilt || shrunk
	return shrunk
}

// summarise asks the model for a summary of messages. The request is bounded and has no tools. The summary is
// bounded too: one that is not shorter than the messages is an error.
func (k *compaction) summarise(ctx context.Context, m Model, old []model.Message, keep string, window int) (string, *session.Usage, error) {
	body := history.WriteOut(old)
	body, _ = text.HeadTail(body, window*2, leftOut) // half the window, at 4 bytes a token
	question := summaryPrompt
	if keep != "" {
		question += "\nKeep above all: " + keep
	}
	resp, err := m.Client.Stream(ctx, model.Request{
		Model: m.ID, System: question, Purpose: model.PurposeSummary,
		Messages: []model.Message{{Role: model.RoleUser, Text: body}},
	}, func(model.Event) {})
	if err != nil {
		return "", nil, err
	}
	cost, _ := m.price(resp) // if it is unknown, the turn's answer says so
	usage := history.UsageRow(resp.Usage, resp.Model, cost)
	k.c.countUsage(usage)
	if history.Blank(resp.Text) {
		return "", nil, errors.New("the model gave an empty summary")
	}
	if model.EstimateText(resp.Text) >= history.Tokens(old) {
		return "", nil, errors.New("the model's summary is not shorter than what it would replace")
	}
	summary, _ := text.HeadTail(text.Valid(resp.Text), int(history.KeepShare*float64(window))*4, leftOut)
	return summary, usage, nil
}

func leftOut(bytes, _ int) string { return fmt.Sprintf("\n[… %d bytes left out …]\n", bytes) }

const summaryPrompt = `Summarise this conversation between a person and a coding agent so that the agent can go on without the original.
State: the person's goals and constraints in their own words where it matters; decisions and why; files read, made or changed and what is in them; commands run and what came out; errors and how they were solved; what is done, what is open, what was about to happen next.
Be exact about names, paths and numbers. Do not invent. Write plain text without a preamble.`
