package plain

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"jcode/agent/event"
	"jcode/internal/text"
	"jcode/tools"
	"jcode/tools/command"
	"jcode/tui/dialog"
	"jcode/tui/look"
)

// plainAsk is a question that the next line answers.
type plainAsk struct {
	id       string
	approval *tools.Question
	form     *plainForm
	// choose takes the number of an option, from 1.
	choose  func(ctx context.Context, n int) error
	options []string
}

// pose writes the options of a question by number and asks for its answer.
func (p *shell) pose(a plainAsk, prompt string) {
	for i, o := range a.options {
		p.say(fmt.Sprintf("  %d: %s", i+1, o))
	}
	p.asks = append(p.asks, a)
	p.question(prompt)
}

// approval asks a question that the next line answers.
func (p *shell) approval(ev event.ApprovalAsked) {
	a := dialog.NewApproval(ev.ID, ev.Question, nil)
	p.say("Question: " + text.Visible(a.Asked.Heading()))
	for _, part := range a.Text.Parts {
		p.say(part.Plain())
	}
	for _, n := range a.Text.Notes {
		p.say("  " + look.Exact(n))
	}
	ask := plainAsk{id: ev.ID, approval: &a.Asked}
	for _, o := range a.Asked.Options {
		ask.options = append(ask.options, text.Visible(o.Label))
	}
	for i, h := range a.Asked.Hunks() {
		p.say(fmt.Sprintf("  Hunk %d: %s line %d, +%d -%d", i+1, look.VisibleName(h.Name), h.First(), h.Added, h.Removed))
	}
	prompt := "Answer (number; words to the model may follow a no): "
	if ask.once() >= 0 {
		prompt = "Answer (number; words to the model may follow a no; h 1 2 says yes to hunks 1 and 2 alone): "
	}
	p.pose(ask, prompt)
}

func (p *shell) ask(ev event.AskPerson) {
	p.say("Question: " + ev.Text)
	p.pose(plainAsk{id: ev.ID, options: ev.Options}, "Answer (number or text): ")
}

// trust asks whether what the folder brings may run.
func (p *shell) trust(t *command.Trust) {
	if t == nil {
		return
	}
	p.say("Trust this folder? " + t.Folder + " contains what can run code on your machine. Exactly this would run or apply:")
	for _, r := range t.Items {
		p.say(dialog.ReviewPart{Title: r.State + " " + r.Name, Text: r.Info}.Plain())
	}
	p.pose(plainAsk{
		id: "folder", options: []string{"yes, trust it until something of it changes", "no, work without it, and ask again when it changes"},
		choose: func(ctx context.Context, n int) error { return t.Decide(ctx, n == 1) },
	}, "Answer (number): ")
}

// refuseAll answers what is pending when nobody can answer any more; the turn continues.
func (p *shell) refuseAll() {
	for _, a := range p.asks {
		var err error
		switch {
		case a.choose != nil: // what is not trusted stays inert, what is not chosen is not done
		case a.approval != nil:
			err = p.conv.Answer(a.id, tools.Answer{Scope: tools.AnswerNo, Option: -1})
		case a.form != nil:
			err = p.conv.Fill(a.id, tools.FormAnswer{Action: tools.FormCancel})
		default:
			err = p.conv.Reply(a.id, "(nobody is there to answer)")
		}
		if err != nil {
			p.say(err.Error())
		}
	}
	p.asks = nil
}

func (p *shell) closed(id string) {
	p.asks = slices.DeleteFunc(p.asks, func(a plainAsk) bool { return a.id == id })
}

func (p *shell) question(prompt string) {
	if p.eof {
		p.say("Nobody is there to answer.")
		p.refuseAll()
		return
	}
	p.write(prompt)
}

// option returns the number that a line begins with if it is that of an option, and the words behind it; 0 without.
// Digits that belong to a word or a longer number are none.
func (a *plainAsk) option(line string) (n int, words string) {
	first, words, _ := strings.Cut(line, " ")
	n, err := strconv.Atoi(first)
	if err != nil || n < 1 || n > len(a.options) || first != strconv.Itoa(n) {
		return 0, ""
	}
	return n, strings.TrimSpace(words)
}

// once returns the place of the answer with which single hunks are taken; -1 if they can't be.
func (a *plainAsk) once() int {
	if a.approval == nil || a.approval.Hunks() == nil {
		return -1
	}
	return slices.IndexFunc(a.approval.Options, func(o tools.AnswerOption) bool { return o.Scope == tools.AnswerOnce })
}

// hunks returns the places of the hunks that a line names: `h 1 3`. Any other line names none.
func (a *plainAsk) hunks(line string) (out []int) {
	words := strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == ',' })
	if a.once() < 0 || len(words) < 2 || words[0] != "h" {
		return nil
	}
	all := len(a.approval.Hunks())
	for _, w := range words[1:] {
		n, err := strconv.Atoi(w)
		if err != nil || n < 1 || n > all || w != strconv.Itoa(n) {
			return nil
		}
		out = append(out, n-1)
	}
	return out
}

// answer settles the first question with a line.
func (p *shell) answer(ctx context.Context, line string) {
	a := p.asks[0]
	line = strings.TrimSpace(line)
	if line == "/stop" && p.conv.Interrupt() {
		return
	}
	n, words := a.option(line)
	var err error
	switch {
	case a.form != nil:
		p.fill(a.id, a.form, line)
		return
	case a.hunks(line) != nil:
		p.diffs[a.approval.CallID] = a.approval.Diff
		err = p.conv.Answer(a.id, tools.Answer{Scope: tools.AnswerOnce, Option: a.once(), Hunks: a.hunks(line)})
	case a.approval != nil && words != "" && n > 0 && a.approval.Options[n-1].Scope != tools.AnswerNo:
		p.write("Not answered: only the number of a no takes words. Answer with the number alone: ")
		return
	case (a.approval != nil || a.choose != nil) && n == 0, a.choose != nil && words != "":
		p.write("Answer with a number from 1 to " + strconv.Itoa(len(a.options)) + ": ")
		return
	case a.approval != nil:
		p.diffs[a.approval.CallID] = a.approval.Diff
		err = p.conv.Answer(a.id, tools.Answer{Scope: a.approval.Options[n-1].Scope, Option: n - 1, Word: words})
	case a.choose != nil:
		p.closed(a.id)
		if err := a.choose(ctx, n); err != nil {
			p.say("Error: " + err.Error())
		}
		p.prompt()
		return
	case line == "":
		p.write("Answer: ")
		return
	case n > 0 && words == "":
		err = p.conv.Reply(a.id, a.options[n-1])
	default:
		err = p.conv.Reply(a.id, line)
	}
	p.closed(a.id)
	if err != nil {
		p.say(err.Error())
	}
}
