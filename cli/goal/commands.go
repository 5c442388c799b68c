package goalcli

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"jcode/agent"
	"jcode/cli/core"
	"jcode/cli/pursuit"
	"jcode/tools/command"
)

// Commands are /loop and /goal of a chat.
type Commands struct {
	*pursuit.Pursuit
}

// Extension returns what they add to jcode.
func (p Commands) Extension() core.Extension {
	return core.Extension{Opened: func(conv *agent.Conversation, _ bool) { p.Open(conv) }, Status: p.Status}
}

// List implements command.Source.
func (p Commands) List() []command.Command {
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

func (p Commands) loop(_ context.Context, args string) (command.Outcome, error) {
	first, prompt, _ := strings.Cut(strings.TrimSpace(args), " ")
	switch first {
	case "":
		page, _ := p.Pages()
		if page == "" {
			return command.Outcome{}, errors.New("/loop 10m PROMPT: nothing is repeated yet")
		}
		return command.Outcome{Page: "/loop", Notice: page}, nil
	case "stop":
		was, err := p.StopLoop()
		if err == nil && !was {
			err = errors.New("nothing is repeated")
		}
		return command.Outcome{Notice: "The loop has ended."}, err
	}
	every, err := time.ParseDuration(first)
	if err != nil || strings.TrimSpace(prompt) == "" {
		return command.Outcome{}, errors.New("/loop 10m PROMPT: first how often (10m, 2h), then the prompt")
	}
	said, err := p.Loop(every, strings.TrimSpace(prompt))
	return command.Outcome{Notice: said}, err
}

// defaultTurns is the limit of a goal that names none.
const defaultTurns = 20

func (p Commands) goal(_ context.Context, args string) (command.Outcome, error) {
	switch strings.TrimSpace(args) {
	case "":
		_, page := p.Pages()
		if page == "" {
			return command.Outcome{}, errors.New("/goal TEXT, or /goal until 'COMMAND': there is no goal yet")
		}
		return command.Outcome{Page: "/goal", Notice: page}, nil
	case "stop":
		was, err := p.StopGoal()
		if err == nil && !was {
			err = errors.New("there is no goal")
		}
		return command.Outcome{Notice: "The goal is dropped; a turn that runs goes on."}, err
	case "continue":
		prompt, err := p.GoOn()
		return command.Outcome{Prompt: prompt, Shown: "/goal continue"}, err
	}
	target, err := readTarget(args)
	if err == nil {
		err = p.Goal(target)
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
