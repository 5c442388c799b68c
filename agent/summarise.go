package agent

import (
	"context"
	"errors"
	"fmt"

	"jcode/agent/history"
	"jcode/agent/model"
	"jcode/internal/text"
	"jcode/session"
)

// summaryRoom is what must be left of the window, in tokens, for the question and its answer after the whole
// conversation.
const summaryRoom = 6000

// summarise asks the model for a summary that stands for the messages before an index. The summary is bounded: one that
// is not shorter than those messages is an error.
func (k *compactor) summarise(ctx context.Context, cut int, keep string, window int, fits bool) (string, *session.Usage, error) {
	old := k.out.history.Messages()[:cut]
	said, usage := "", (*session.Usage)(nil)
	if req, ok := k.inPlace(keep, window); ok && fits {
		resp, err := k.model.Client.Stream(ctx, req, func(model.Event) {})
		usage = k.paid(usage, resp)
		if err != nil && (ctx.Err() != nil || !anotherForm(err)) {
			return "", nil, err
		}
		if err == nil {
			said = resp.Text
		}
	}
	if history.Blank(said) {
		resp, err := k.model.Client.Stream(ctx, k.writtenOut(old, keep, window), func(model.Event) {})
		usage = k.paid(usage, resp)
		if err != nil {
			return "", nil, err
		}
		said = resp.Text
	}
	if history.Blank(said) {
		return "", nil, errors.New("the model gave an empty summary")
	}
	if model.EstimateText(said) >= history.Tokens(old) {
		return "", nil, errors.New("the model's summary is not shorter than what it would replace")
	}
	summary, _ := text.HeadTail(text.Valid(said), int(history.KeepShare*float64(window))*4, leftOut)
	return summary, usage, nil
}

// inPlace returns the request that asks for a summary at the end of the conversation. It begins with the same bytes as
// the last request did, system prompt and tools included, so that the provider reads all of it from its cache. It
// returns false where there was no such request in this process, or the window has no room for it.
func (k *compactor) inPlace(keep string, window int) (model.Request, bool) {
	req := k.out.asked
	if req.Model != k.model.ID || req.System != k.out.system || !k.out.prompted || k.out.rebuilt {
		return req, false
	}
	messages, tokens := k.out.history.ToSend(k.model.Sees)
	size := max(k.out.measured.Expect(req.System, nil, &k.out.history), tokens)
	if window-size < summaryRoom {
		return req, false
	}
	req.Purpose = model.PurposeCompaction
	req.Messages = append(messages, model.Message{Role: model.RoleUser, Text: "[jcode] " + summaryQuestion + kept(keep) + summaryOnly})
	if n := len(k.few); n > 0 {
		req.Messages = append(k.few[:n:n], req.Messages...)
	}
	return req, true
}

// writtenOut returns the request that asks for a summary of messages that are written out as one text, shortened to half
// the window. It has no tools.
func (k *compactor) writtenOut(old []model.Message, keep string, window int) model.Request {
	body, _ := text.HeadTail(history.WriteOut(old), window*2, leftOut) // at 4 bytes a token
	return model.Request{
		Model: k.model.ID, System: summaryPrompt + kept(keep), Purpose: model.PurposeSummary,
		Messages: []model.Message{{Role: model.RoleUser, Text: body}},
	}
}

// paid counts what an answer used, on top of what another attempt did.
func (k *compactor) paid(before *session.Usage, resp model.Response) *session.Usage {
	used := resp.Usage.Plus(resp.Wasted)
	if before != nil && used == (model.Usage{}) {
		return before
	}
	cost, _ := k.model.price(resp) // if it is unknown, the turn's answer says so
	usage := history.UsageRow(used, resp.Model, cost)
	k.count(usage)
	if before != nil {
		usage.Add(*before)
	}
	return usage
}

// anotherForm reports whether a refused request for a summary may be answered in another form: shorter, without tools.
func anotherForm(err error) bool {
	var bad *model.Error
	if !errors.As(err, &bad) {
		return false
	}
	switch bad.Class {
	case model.ClassOverflow, model.ClassRequest, model.ClassTool, model.ClassImage:
		return true
	case model.ClassAuth, model.ClassCredit, model.ClassNetwork, model.ClassServer, model.ClassReplay:
	}
	return false
}

func leftOut(bytes, _ int) string { return fmt.Sprintf("\n[… %d bytes left out …]\n", bytes) }

// kept says what the person wants to be retained.
func kept(keep string) string {
	if keep == "" {
		return ""
	}
	return "\nKeep above all: " + keep
}

const summarySections = `Write these sections, each under its heading:
## Goal: what the user wants, with constraints, in their own words where it matters.
## State: what is done and checked, what is decided and why.
## Files: each file that was read, made or changed, and what of it matters.
## What failed: commands and attempts that did not work, with the exact error, and how it was solved if it was.
## Next step: what is open, and what was about to happen next.
Be exact about names, paths, commands and numbers. Do not invent.`

const summaryPrompt = `Summarise this conversation between the user and a coding agent so that the agent can go on without the original.
` + summarySections + `
Write plain text without a preamble.`

const summaryQuestion = `The context window is nearly full. Summarise this conversation: what you write replaces it, and you go on from that alone.
` + summarySections

const summaryOnly = `
Answer with the summary alone, without a preamble. Call no tool: nothing you do now would be kept.`
