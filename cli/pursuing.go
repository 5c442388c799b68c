package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"jcode/agent"
	"jcode/agent/event"
	"jcode/agent/model"
	"jcode/cli/board"
	"jcode/cli/core"
	"jcode/cli/pursuit"
	"jcode/internal/text"
	"jcode/tools/command"
)

// pursuing are the commands /loop and /goal of a chat.
type pursuing struct {
	pursuit *pursuit.Pursuit
}

// goalCommandLimit is how long the command that judges a goal may run.
const goalCommandLimit = 10 * time.Minute

func newPursuing(a *app) pursuing {
	typed, shell := newTypedPrompts(a), newPersonShell(a)
	judge := goalJudge{board: &a.board, run: func(ctx context.Context, line string, out func(string)) error {
		return shell.RunFor(ctx, line, goalCommandLimit, out)
	}}
	return pursuing{pursuit.New(pursuit.Options{
		Dir: pursuits(a.paths.Data), Holds: judge.holds, Passing: passing,
		Expand: func(ctx context.Context, said string) (event.Prompt, error) {
			p, notice, err := typed.prompt(ctx, said)
			if err == nil && p.Text == "" {
				err = fmt.Errorf("there is nothing to do for a model: %s", text.Headline(notice))
			}
			return p, err
		},
	})}
}

// pursuits returns the folder in which loops and goals of sessions are kept.
func pursuits(data string) string { return filepath.Join(data, "pursuits") }

// extension returns what they add to jcode.
func (p pursuing) extension() core.Extension {
	return core.Extension{Opened: func(conv *agent.Conversation, _ bool) { p.pursuit.Open(conv) }, Status: p.pursuit.Status}
}

// List implements command.Source.
func (p pursuing) List() []command.Command {
	return []command.Command{
		{
			Name: "loop", Hint: "[10m <prompt>|stop]", Run: p.loop, Verbs: command.Verbs{{Name: "stop", Help: "end the loop"}},
			Description: "say something again and again, between turns, until esc or the end of the session",
		},
		{
			Name: "goal", Hint: "[--max-turns N] [--max-cost USD] [<text>|until '<command>'|continue|stop]", Run: p.goal,
			Verbs: command.Verbs{
				{Name: "until", Hint: "'COMMAND'", Help: "go on until a command succeeds"},
				{Name: "continue", Help: "continue a goal that was interrupted or met a limit"},
				{Name: "stop", Help: "drop the goal; a turn that runs goes on"},
			},
			Description: "go on, turn after turn, until a goal holds or a command succeeds",
		},
	}
}

func (p pursuing) loop(_ context.Context, args string) (command.Outcome, error) {
	first, prompt, _ := strings.Cut(strings.TrimSpace(args), " ")
	switch first {
	case "":
		page, _ := p.pursuit.Pages()
		if page == "" {
			return command.Outcome{}, errors.New("/loop 10m PROMPT: nothing is repeated yet")
		}
		return command.Outcome{Page: "/loop", Notice: page}, nil
	case "stop":
		was, err := p.pursuit.StopLoop()
		if err == nil && !was {
			err = errors.New("nothing is repeated")
		}
		return command.Outcome{Notice: "The loop has ended."}, err
	}
	every, err := time.ParseDuration(first)
	if err != nil || strings.TrimSpace(prompt) == "" {
		return command.Outcome{}, errors.New("/loop 10m PROMPT: first how often (10m, 2h), then the prompt")
	}
	said, err := p.pursuit.Loop(every, strings.TrimSpace(prompt))
	return command.Outcome{Notice: said}, err
}

// defaultTurns is the limit of a goal that names none.
const defaultTurns = 20

func (p pursuing) goal(_ context.Context, args string) (command.Outcome, error) {
	switch strings.TrimSpace(args) {
	case "":
		_, page := p.pursuit.Pages()
		if page == "" {
			return command.Outcome{}, errors.New("/goal TEXT, or /goal until 'COMMAND': there is no goal yet")
		}
		return command.Outcome{Page: "/goal", Notice: page}, nil
	case "stop":
		was, err := p.pursuit.StopGoal()
		if err == nil && !was {
			err = errors.New("there is no goal")
		}
		return command.Outcome{Notice: "The goal is dropped; a turn that runs goes on."}, err
	case "continue":
		prompt, err := p.pursuit.GoOn()
		return command.Outcome{Prompt: prompt, Shown: "/goal continue"}, err
	}
	target, err := readTarget(args)
	if err == nil {
		err = p.pursuit.Goal(target)
	}
	if err != nil {
		return command.Outcome{}, err
	}
	return command.Outcome{Prompt: target.First(), Shown: "/goal " + strings.TrimSpace(args)}, nil
}

// readTarget reads what stands after /goal.
func readTarget(args string) (t pursuit.Target, err error) {
	t.MaxTurns = defaultTurns
	limit := regexp.MustCompile(`(?:^|\s)--max-(turns|cost)(?:=|\s+|$)(\S*)`)
	for _, m := range limit.FindAllStringSubmatch(args, -1) {
		var bad error
		if m[1] == "turns" {
			t.MaxTurns, bad = strconv.Atoi(m[2])
		} else {
			t.MaxCost, bad = strconv.ParseFloat(m[2], 64)
		}
		if bad != nil || t.MaxTurns < 1 || t.MaxCost < 0 || m[1] == "cost" && !(t.MaxCost > 0) {
			return t, fmt.Errorf("--max-%s wants a number above 0, not %q", m[1], m[2])
		}
	}
	said := strings.TrimSpace(limit.ReplaceAllString(args, ""))
	if strings.HasPrefix(said, "--") {
		return t, errors.New("/goal knows --max-turns N and --max-cost USD")
	}
	if rest, ok := strings.CutPrefix(said, "until "); ok {
		rest = strings.TrimSpace(rest)
		if n := len(rest); n > 2 && strings.ContainsRune("'\"`", rune(rest[0])) && rest[n-1] == rest[0] {
			t.Command = rest[1 : n-1]
		}
	}
	if t.Text = said; said == "" {
		return t, errors.New("/goal TEXT: what is to be reached?")
	}
	return t, nil
}

// goalJudge judges goals.
type goalJudge struct {
	board *board.Board
	run   func(ctx context.Context, line string, out func(string)) error // as the person, who typed it
}

// goalQuestion asks the model of a conversation for a judgement.
const goalQuestion = `Is this goal reached now? %s
Begin your answer with YES or NO, then say why in one sentence. Say YES only if the conversation shows it: what the agent claims without having run or read what proves it does not count. If the goal is not reached, say what is missing.`

// shownOutput is how much of a command's output the model is told, in bytes.
const shownOutput = 4000

func (j goalJudge) holds(ctx context.Context, t pursuit.Target) (holds bool, said string, err error) {
	if t.Command != "" {
		return j.succeeds(ctx, t.Command)
	}
	conv := j.board.Open()
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
func (j goalJudge) succeeds(ctx context.Context, line string) (ok bool, said string, err error) {
	var out strings.Builder
	err = j.run(ctx, line, func(s string) {
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

// passing reports whether an error of a model is over after a while.
func passing(err error) bool {
	var e *model.Error
	return errors.As(err, &e) && (e.Class == model.ClassNetwork || e.Class == model.ClassServer)
}
