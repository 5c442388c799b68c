package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"jcode/agent/event"
	"jcode/agent/model"
	"jcode/internal/text"
	"jcode/session"
	"jcode/tools"
)

// defaultCompactAt is the share of the window at which the history is compacted.
const defaultCompactAt = 0.85

const (
	keepTurns     = 2    // user turns that are kept verbatim
	keepShare     = 0.20 // of the window, at most
	defaultWindow = 128_000
	shrunkResult  = 400 // bytes of an old result that are kept
	growthFactor  = 1.25
)

// measure estimates the size of the next request.
type measure struct {
	// known is the provider's count for the first at messages.
	known, at int
	// tools is the size of the tool definitions.
	tools int
	// compacted is the expected size after the last compaction, 0 before the first.
	compacted int
}

// saw records what the provider counted for a request and its answer.
func (m *measure) saw(u model.Usage, messages int) {
	if !u.Estimated && !u.Summed && u.Input > 0 {
		m.known, m.at = u.Input+u.Output, messages
	}
}

// forget discards the counts, because the history has changed.
func (m *measure) forget() { m.known, m.at = 0, 0 }

// expect returns the tokens that the next request needs, estimated where the provider has not counted.
func (m *measure) expect(system string, offered []model.Tool, history *transcript) int {
	if offered != nil {
		m.tools = toolTokens(offered)
	}
	if m.known > 0 && m.at <= len(history.messages) {
		return m.known + historyTokens(history.messages[m.at:])
	}
	return model.EstimateText(system) + m.tools + history.tokens
}

func historyTokens(history []model.Message) int {
	n := 0
	for i := range history {
		n += model.EstimateMessage(&history[i])
	}
	return n
}

func toolTokens(list []model.Tool) int {
	n := 0
	for i := range list {
		n += model.EstimateTool(&list[i])
	}
	return n
}

// compaction is the part of a conversation that keeps the history within the model's window.
// The conversation's goroutine owns it.
type compaction struct {
	c        *Conversation
	measured measure
}

// compactIfFull compacts when the next request would exceed the limit. After a compaction that could save
// nothing more it waits until the history has grown by a quarter.
func (k *compaction) compactIfFull(ctx context.Context, offered []tools.Entry) error {
	window := k.c.Window()
	if window <= 0 {
		return nil
	}
	size := k.measured.expect(k.c.system, definitions(offered), &k.c.history)
	if float64(size) < k.c.opt.CompactAt*float64(window) || float64(size) < growthFactor*float64(k.measured.compacted) {
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
		k.measured.compacted = size // not again at every step
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
			window, model.EstimateText(k.c.system), k.measured.tools, refusal)
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
	return window > 0 && float64(model.EstimateText(k.c.system)+k.measured.tools) > 0.8*float64(window)
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
	before := k.measured.expect(k.c.system, nil, &k.c.history)
	if shrink { // the request was refused: the real window is smaller than this history
		window = min(window, max(before, k.c.history.tokens))
	}
	cut := tailStart(k.c.history.messages, window)
	if shrink {
		k.shrinkResults(cut)
	}
	if k.c.history.lastOf(cut) == 0 { // nothing, or only a summary
		if shrink && k.shrinkResults(len(k.c.history.messages)) { // one long exchange: nothing else can be done
			return nil
		}
		return errNothingToCompact
	}
	k.c.emit(event.Compacting{})
	summary, usage, err := k.summarise(ctx, m, k.c.history.messages[:cut], keep, window)
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	summary += planText(k.c.Todo())
	upTo := k.c.history.lastOf(cut)
	seq, err := k.c.opt.Store.History().Compact(context.WithoutCancel(ctx), session.Message{
		Session: k.c.row.ID, Role: session.RoleSummary, Usage: usage,
		Parts: []session.Part{{Kind: session.PartText, Text: summary}, {Kind: session.PartRange, Text: fmt.Sprintf("1-%d", upTo)}},
	}, upTo)
	if err != nil {
		return fmt.Errorf("store summary: %w", err)
	}
	k.c.history.summarised(seq, summary, cut)
	k.measured.forget()
	k.c.prompted, k.c.rebuilt = false, true // from here on
	k.c.listing.forget()
	k.c.opt.Extensions.compacted(ctx, k.c.row.ID)
	after := k.measured.expect(k.c.system, nil, &k.c.history)
	if shrink && float64(after) > k.c.opt.CompactAt*float64(window) && k.shrinkResults(len(k.c.history.messages)) {
		after = k.measured.expect(k.c.system, nil, &k.c.history) // the part that is kept was too large by itself
	}
	k.measured.compacted = after
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
	for i := range k.c.history.messages[:upTo] {
		m := &k.c.history.messages[i]
		if m.Role == model.RoleTool && len(m.Text) > shrunkResult+100 {
			m.Text = text.Cut(m.Text, shrunkResult) + "\n[… the rest of this old result was dropped to save space]"
			m.Images, shrunk = nil, true
		}
	}
	k.c.history.changed()
	k.measured.forget()
	k.c.rebuilt = k.c.rebuilt || shrunk
	return shrunk
}

// tailStart returns the index of the first message that is kept verbatim: the last two user turns, at most a
// fifth of the window, cut between steps. 0 means that everything would be kept.
func tailStart(history []model.Message, window int) int {
	budget := int(keepShare * float64(window))
	size, turns, start := 0, 0, len(history)
	for i := len(history) - 1; i > 0; i-- {
		size += model.EstimateMessage(&history[i])
		if size > budget {
			break
		}
		if history[i].Role == model.RoleTool {
			continue // never between a call and its result
		}
		start = i
		if history[i].Role == model.RoleUser && !strings.HasPrefix(history[i].Text, "[jcode]") {
			if turns++; turns == keepTurns {
				break
			}
		}
	}
	if start == len(history) { // the last step alone is too large: keep it anyway
		for start = len(history) - 1; start > 0 && history[start].Role == model.RoleTool; start-- {
		}
	}
	return max(start, 0)
}

// summarise asks the model for a summary of messages. The request is bounded and has no tools. The summary is
// bounded too: one that is not shorter than the messages is an error.
func (k *compaction) summarise(ctx context.Context, m Model, old []model.Message, keep string, window int) (string, *session.Usage, error) {
	body := writeOut(old)
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
	usage := usageRow(resp.Usage, resp.Model, cost)
	k.c.countUsage(usage)
	if blank(resp.Text) {
		return "", nil, errors.New("the model gave an empty summary")
	}
	if model.EstimateText(resp.Text) >= historyTokens(old) {
		return "", nil, errors.New("the model's summary is not shorter than what it would replace")
	}
	summary, _ := text.HeadTail(clean(resp.Text), int(keepShare*float64(window))*4, leftOut)
	return summary, usage, nil
}

func leftOut(bytes, _ int) string { return fmt.Sprintf("\n[… %d bytes left out …]\n", bytes) }

const summaryPrompt = `Summarise this conversation between a person and a coding agent so that the agent can go on without the original.
State: the person's goals and constraints in their own words where it matters; decisions and why; files read, made or changed and what is in them; commands run and what came out; errors and how they were solved; what is done, what is open, what was about to happen next.
Be exact about names, paths and numbers. Do not invent. Write plain text without a preamble.`

// writeOut renders messages as text for a summary.
func writeOut(messages []model.Message) string {
	var b strings.Builder
	for _, m := range messages {
		switch m.Role {
		case model.RoleUser:
			fmt.Fprintf(&b, "PERSON: %s\n\n", m.Text)
		case model.RoleAssistant:
			if m.Text != "" {
				fmt.Fprintf(&b, "AGENT: %s\n\n", m.Text)
			}
			for _, call := range m.Calls {
				fmt.Fprintf(&b, "AGENT CALLS %s %s\n", call.Name, text.Cut(call.Arguments, 1500))
			}
		case model.RoleTool:
			result, _ := text.HeadTail(m.Text, 1500, func(bytes, _ int) string { return fmt.Sprintf(" [… %d bytes …] ", bytes) })
			fmt.Fprintf(&b, "RESULT: %s\n\n", result)
		}
	}
	return b.String()
}
