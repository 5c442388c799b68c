package goalcli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"jcode/agent"
	"jcode/agent/model"
	"jcode/cli/core"
	"jcode/cli/pursuit"
	"jcode/internal/text"
	"jcode/tools/command"
)

// Judge judges goals: by the model of the conversation, or by a command.
type Judge struct {
	Open func() *agent.Conversation // nil for none
	// Run runs a command as the person, who typed it.
	Run func(ctx context.Context, line string, out func(string)) error
}

// goalQuestion asks the model of a conversation for a judgement.
const goalQuestion = `Is this goal reached now? %s
Begin your answer with YES or NO, then say why in one sentence. Say YES only if the conversation shows it: what the agent claims without having run or read what proves it does not count. If the goal is not reached, say what is missing.`

// shownOutput is how much of a command's output the model is told, in bytes.
const shownOutput = 4000

// Holds implements Options.Holds.
func (j Judge) Holds(ctx context.Context, t pursuit.Target) (holds bool, said string, err error) {
	if t.Command != "" {
		return j.succeeds(ctx, t.Command)
	}
	conv := j.Open()
	if conv == nil {
		return false, "", core.ErrNoMessages
	}
	said, err = agent.AskAbout(ctx, conv, fmt.Sprintf(goalQuestion, t.Text))
	said = strings.TrimSpace(text.Clean(said))
	word := strings.ToUpper(strings.Trim(firstWord(said), "*_.,:;!"))
	if err == nil && word != "YES" && word != "NO" {
		err = fmt.Errorf("the judgement is neither a yes nor a no: %s", text.Truncate(text.OneLine(said), 100, "…"))
	}
	return word == "YES", said, err
}

func firstWord(s string) string {
	if words := strings.Fields(s); len(words) > 0 {
		return words[0]
	}
	return ""
}

// succeeds runs a command; said is what it printed last.
func (j Judge) succeeds(ctx context.Context, line string) (ok bool, said string, err error) {
	var out strings.Builder
	err = j.Run(ctx, line, func(s string) {
		out.WriteString(s)
		if out.Len() > 8*shownOutput {
			rest := text.CutTail(out.String(), shownOutput)
			out.Reset()
			out.WriteString(rest)
		}
	})
	var elsewhere command.InBackground
	switch {
	case err == nil:
		return true, "", nil
	case errors.As(err, &elsewhere):
		return false, "", fmt.Errorf("the command went to the background, as %s", string(elsewhere))
	case ctx.Err() != nil:
		return false, "", ctx.Err()
	}
	said = err.Error()
	if printed := strings.TrimSpace(text.CutTail(text.Clean(out.String()), shownOutput)); printed != "" {
		said += ":\n" + printed
	}
	return false, said, nil
}

// Passing reports whether an error of a model is over after a while.
func Passing(err error) bool {
	var e *model.Error
	return errors.As(err, &e) && (e.Class == model.ClassNetwork || e.Class == model.ClassServer)
}
