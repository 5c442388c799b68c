package sessionscli

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"jcode/agent/event/wire"
	"jcode/cli/console"
	"jcode/internal/text"
	"jcode/remote"
	"jcode/session"
	"jcode/tools"
)

type answerCmd struct {
	Answer  string `arg:"" help:"yes, no, the number of a row of the question, or the reply to a question of the model."`
	Session string `arg:"" optional:"" help:"End of the ID or part of the title; not needed if only one waits."`
	Word    string `help:"Why not: goes to the model with a no." placeholder:"TEXT"`
	Hunks   []int  `help:"Take only these hunks of a change, with a yes: 1,3. jcode sessions watch numbers them." placeholder:"N,..."`
}

// Run answers the question that an open session waits with.
func (c *answerCmd) Run(ctx context.Context, std Setup) error {
	l, err := std.Live()
	if err != nil {
		return err
	}
	client, s, err := l.Find(ctx, c.Session, remote.Handlers{})
	if err != nil {
		return err
	}
	defer client.Close()
	var at remote.Attached
	if err := client.Call(ctx, "attach", remote.Attach{Session: s.SessionID, Role: remote.Control}, &at); err != nil {
		return &console.Exit{Code: console.ExitModel, Err: err}
	}
	for _, line := range at.Now {
		var q struct {
			Type, ID, Text string
			Question       wire.Question
			Options        []string
		}
		if json.Unmarshal(line, &q) != nil {
			continue
		}
		switch q.Type {
		case "approval_asked":
			i, err := c.option(q.Question)
			if err != nil {
				return err
			}
			answer := remote.Answer{Session: s.SessionID, ID: q.ID, Option: i, Word: c.Word}
			if answer.Hunks, err = c.hunks(q.Question, i); err != nil {
				return err
			}
			fmt.Fprintf(std.Err, "%s\n→ %s\n", text.Visible(q.Question.Title), text.Visible(q.Question.Options[i].Label))
			return c.failed(client.Call(ctx, "answer", answer, nil))
		case "ask":
			reply := c.Answer
			if n, err := strconv.Atoi(reply); err == nil && n >= 1 && n <= len(q.Options) {
				reply = q.Options[n-1]
			}
			fmt.Fprintf(std.Err, "%s\n→ %s\n", text.Visible(q.Text), text.Visible(reply))
			return c.failed(client.Call(ctx, "reply", remote.Reply{Session: s.SessionID, ID: q.ID, Text: reply}, nil))
		case "form":
			return console.Usage("session %s waits for a form to be filled in: that is done at its terminal", session.ShortID(s.SessionID))
		}
	}
	return console.Usage("session %s waits for no answer", session.ShortID(s.SessionID))
}

func (c *answerCmd) failed(err error) error {
	if err != nil {
		return &console.Exit{Code: console.ExitModel, Err: err}
	}
	return nil
}

// option returns the place of the row that the answer means.
func (c *answerCmd) option(q wire.Question) (int, error) {
	scope := map[string]tools.AnswerScope{"yes": tools.AnswerOnce, "y": tools.AnswerOnce, "no": tools.AnswerNo, "n": tools.AnswerNo}[strings.ToLower(c.Answer)]
	if n, err := strconv.Atoi(c.Answer); err == nil && n >= 1 && n <= len(q.Options) {
		return n - 1, nil
	}
	if i := slices.IndexFunc(q.Options, func(o wire.Option) bool { return o.Scope == scope }); scope != "" && i >= 0 {
		return i, nil
	}
	rows := make([]string, 0, len(q.Options))
	for i, o := range q.Options {
		rows = append(rows, fmt.Sprintf("%d %s", i+1, text.Visible(o.Label)))
	}
	return 0, console.Usage("%s\nanswer yes, no or a number: %s", text.Visible(q.Title), strings.Join(rows, " · "))
}

// hunks returns the places of the hunks that are to be taken with a row; nil means all of them.
func (c *answerCmd) hunks(q wire.Question, row int) ([]int, error) {
	if c.Hunks == nil {
		return nil, nil
	}
	switch {
	case len(q.Hunks) == 0:
		return nil, console.Usage("%s\n--hunks: the hunks of this question can't be taken one by one", text.Visible(q.Title))
	case q.Options[row].Scope != tools.AnswerOnce:
		return nil, console.Usage("%s\n--hunks goes with yes alone", text.Visible(q.Title))
	}
	var out []int
	for _, n := range c.Hunks {
		if n < 1 || n > len(q.Hunks) {
			return nil, console.Usage("%s\n--hunks %d: the change has hunks 1 to %d", text.Visible(q.Title), n, len(q.Hunks))
		}
		out = append(out, n-1)
	}
	return out, nil
}
