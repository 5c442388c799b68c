package skills

import (
	"context"
	"fmt"
	"strings"

	"jcode/tools/command"
)

// Commands returns the skills as commands: `/name arguments`.
func (r *Registry) Commands(host Host) command.Source { return skillCommands{r, host} }

type skillCommands struct {
	r    *Registry
	host Host
}

// List returns a command for each skill in use.
func (c skillCommands) List() []command.Command {
	var out []command.Command
	for _, sk := range c.r.List() {
		if sk.Hidden {
			continue
		}
		out = append(out, command.Command{
			Name:        sk.Name,
			Description: brief(sk.Description, 200),
			Hint:        sk.Hint,
			Origin:      "skill (" + sk.Source.Label + ")",
			Guest:       guest(c.r.opts.Trust, sk.Pin()),
			Run: func(ctx context.Context, args string) (command.Outcome, error) {
				return c.run(ctx, sk.Name, args)
			},
		})
	}
	return out
}

// run makes the message that starts a skill. The arguments are inserted unchanged.
func (c skillCommands) run(ctx context.Context, name, args string) (command.Outcome, error) {
	l, err := c.r.Load(name)
	if err != nil {
		return command.Outcome{}, err
	}
	sk := l.Skill
	out := command.Outcome{Shown: strings.TrimSpace("/" + name + " " + args)}
	ok, err := approved(ctx, c.r.opts.Trust, c.host.Asker(), sk.Pin())
	switch {
	case err != nil:
		return command.Outcome{}, fmt.Errorf("approve the allowed-tools of %s: %w", name, err)
	case ok:
		out.Allow = sk.Rules
	default:
		out.Notice = fmt.Sprintf("the allowed-tools of %s are not approved: its calls ask as usual", name)
	}
	session := c.r.Session(c.host.Session())
	body := parseArgumentsOnly(l.Body)
	switch g := parseArguments(args); {
	case session.has(sk.Name, sk.Hash) && !body.uses():
		out.Prompt = fmt.Sprintf("Follow the skill %s, whose text is above.", sk.Name) + added(g)
	default:
		l.Body = body.plain(g)
		if body.uses() {
			g = given{}
		}
		l.compose()
		out.Prompt = fmt.Sprintf("Follow this skill now.\n\n%s", l.Text) + added(g)
		out.Skill = sk.Name + versionMark + sk.Hash
	}
	return out, nil
}

// parseArgumentsOnly is parseTemplate for a skill's body, in which only $ARGUMENTS is special:
// `$1` is common in its shell and awk examples.
func parseArgumentsOnly(body string) template {
	var t template
	for _, p := range parseParameters(body) {
		if p.kind == word {
			p = piece{text: p.source()}
		}
		t = append(t, p)
	}
	return t
}

// added returns the arguments that a template has no place for.
func added(g given) string {
	if g.all == "" {
		return ""
	}
	return "\n\nThe user's request: " + g.all
}
