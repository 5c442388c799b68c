package plain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"jcode/agent/event"
	"jcode/internal/text"
	"jcode/tools"
	"jcode/tools/command"
	"jcode/tui/front"
	"jcode/tui/look"
	"jcode/tui/transcript"
)

// take handles a line of the person; true leaves the program.
func (p *shell) take(ctx context.Context, line string) bool {
	if len(p.asks) > 0 {
		if word := strings.TrimSpace(line); word == "/quit" || word == "/exit" {
			p.refuseAll()
			return true
		}
		p.answer(ctx, line)
		return false
	}
	line = strings.TrimSpace(line)
	if line != "" {
		p.record.Acted = true
	}
	switch {
	case line == "":
		p.prompt()
	case line == "/quit" || line == "/exit":
		return true
	case strings.HasPrefix(line, "/") && !strings.Contains(look.FirstWord(line)[1:], "/"):
		p.command(ctx, line)
	case strings.HasPrefix(line, "!") && p.opt.Shell != nil:
		p.shell(ctx, strings.TrimSpace(line[1:]))
	default:
		p.send(line)
	}
	return false
}

// send sends a prompt with the pictures that it names.
func (p *shell) send(line string) {
	prompt := event.Prompt{Text: line}
	images, _, err := transcript.NamedPictures(p.opt.Image, line)
	if err != nil {
		p.say("Warning: " + err.Error())
		p.prompt()
		return
	}
	if prompt.Images = images; len(images) > 0 && !p.conv.Sees() {
		p.say("Warning: " + front.BlindNotice(p.conv.State().Model, len(images)))
	}
	p.conv.Prompt(prompt)
	p.busy = true
}

// command runs the commands that make sense without a screen.
func (p *shell) command(ctx context.Context, line string) {
	name := look.FirstWord(line)[1:]
	args := strings.TrimSpace(line[1+len(name):])
	var err error
	switch name {
	case "help":
		p.help()
	case "stop": // a `!` line first, otherwise the turn
		if len(p.shells) == 0 {
			p.conv.Interrupt()
		}
		for _, run := range p.shells {
			run.stop()
		}
	case "mode":
		var m tools.Mode
		if m, err = tools.ParseMode(args); err == nil {
			p.conv.SetMode(m)
			now, most := p.conv.State().Mode, p.conv.State().MaxMode
			if m.Under(most) != m {
				p.say(front.Highest(most))
				break
			}
			if now != m {
				p.say("Mode " + string(now) + ": the role allows no more; mode " + args + " holds when it ends.")
				break
			}
			p.say("Mode " + args + ": " + front.ModeHelp(m) + ".")
		}
	case "model":
		if args != "" || p.opt.Models == nil {
			err = p.conv.SetModel(args)
			break
		}
		err = p.list(ctx, p.opt.Models)
	case "role":
		err = p.role(ctx, args)
	case "new":
		err = p.newSession(ctx, args)
	case "resume":
		err = p.resume(ctx, args)
	case "session":
		err = p.session(ctx, args)
	case "fork":
		err = p.fork(ctx, args)
	case "rename":
		err = p.conv.Rename(args)
	case "compact":
		err = p.conv.Compact(ctx, args)
	case "diff":
		err = p.changes(ctx)
	case "trust":
		err = p.trustAgain(ctx)
	case "undo":
		err = p.undo(ctx, line)
	default:
		err = p.elsewhere(ctx, name, args, line)
	}
	if err != nil {
		p.say("Error: " + err.Error())
	}
	p.prompt()
}

func (p *shell) help() {
	p.say("/mode MODE, /model NAME, /role NAME|off|info|set NAME VALUE, /new, /resume [TEXT], /session NAME, /fork [NUMBER], /rename TITLE, /compact, /diff, /trust, /stop, /quit; ! runs a line in the shell, @ names a picture")
	for i := range p.opt.Panels {
		pl := &p.opt.Panels[i]
		p.say("/" + pl.Name + ": " + pl.Help)
		p.helpVerbs(pl.Name, pl.All())
	}
	for _, c := range p.opt.Commands.List() {
		p.say("/" + c.Name + " " + c.Hint + ": " + c.Description)
		p.helpVerbs(c.Name, c.Verbs)
	}
}

func (p *shell) helpVerbs(name string, verbs command.Verbs) {
	for i := range verbs {
		p.say("/" + name + " " + verbs[i].Form() + ": " + verbs[i].Help)
	}
}

// list writes the choices.
func (p *shell) list(ctx context.Context, rows func(ctx context.Context) ([]command.Row, error)) error {
	found, err := rows(ctx)
	p.rows(found)
	return err
}

// rows writes the lines of a list.
func (p *shell) rows(rows []command.Row) {
	for i := range rows {
		r := &rows[i]
		line := cmp.Or(r.Name, r.ID)
		if r.Current {
			line += " (in force)"
		}
		for _, more := range []string{r.State, r.Info} {
			if more != "" {
				line += ", " + look.OneLine(more)
			}
		}
		p.say(line)
	}
}

// changes writes what the session changed.
func (p *shell) changes(ctx context.Context) error {
	if p.opt.Changes == nil {
		return errors.New("changes are not tracked here")
	}
	files, err := p.opt.Changes(ctx)
	if len(files) == 0 && err == nil {
		p.say("Nothing was changed.")
	}
	for _, f := range files {
		p.say(front.ChangeLine(f) + "\n" + text.Visible(f.Diff))
	}
	return err
}

// trustAgain asks again about what is not trusted here.
func (p *shell) trustAgain(ctx context.Context) error {
	if p.opt.TrustAgain == nil {
		return errors.New("there is nothing to trust here")
	}
	t, err := p.opt.TrustAgain(ctx)
	if err == nil && t == nil {
		p.say("Everything in this folder is trusted, or nothing in it could run.")
	}
	p.trust(t)
	return err
}

// undo says which files would be restored, and asks.
func (p *shell) undo(ctx context.Context, line string) error {
	if p.opt.Undoable == nil {
		return p.elsewhere(ctx, "undo", "", line)
	}
	u, err := p.opt.Undoable(ctx)
	if err != nil {
		return err
	}
	question := "put back what " + cmp.Or(look.OneLine(text.Visible(u.Name)), "the last turn that changed files") + " did? /redo reverses that."
	for _, f := range u.Files {
		question += "\n  " + front.ChangeLine(f)
	}
	p.choice(question, []string{"yes", "no"}, func(ctx context.Context, n int) error {
		if n != 1 {
			return nil
		}
		return p.elsewhere(ctx, "undo", "", line)
	})
	return nil
}

// elsewhere runs a command from outside, or writes the rows of a panel.
func (p *shell) elsewhere(ctx context.Context, name, args, line string) error {
	for i := range p.opt.Panels {
		if p.opt.Panels[i].Name == name {
			return p.panel(ctx, &p.opt.Panels[i], args)
		}
	}
	c, ok := p.opt.Commands.Find(name)
	if !ok {
		p.say("Unknown command /" + name + ". /help lists them.")
		return nil
	}
	out, err := c.Run(ctx, args)
	if err != nil {
		return err
	}
	if out.Notice != "" {
		p.say(out.Notice)
	}
	if out.Prompt != "" {
		p.conv.Prompt(event.Prompt{Text: out.Prompt, Shown: cmp.Or(out.Shown, line), Skill: out.Skill, Model: out.Model, Allow: out.Allow})
		p.busy = true
	}
	return nil
}

// panel writes the rows of a panel, or runs the words after its command.
func (p *shell) panel(ctx context.Context, pl *command.Panel, args string) error {
	if args != "" {
		answer, err := pl.Do(ctx, args)
		switch {
		case err != nil:
			return err
		case answer.Edit != nil:
			return fmt.Errorf("/%s %s opens an editor, which needs a screen", pl.Name, args)
		case answer.Notice != "":
			p.say(answer.Notice)
		}
		if !answer.Search {
			return nil
		}
	}
	rows, err := pl.Rows(ctx)
	if err != nil {
		return err
	}
	var found []command.Row
	for i := range rows {
		r := &rows[i]
		if r.Contains(strings.ToLower(args)) {
			found = append(found, *r)
		}
	}
	if len(found) == 0 {
		p.say(cmp.Or(pl.Empty, "nothing here"))
	}
	p.rows(found)
	return nil
}

// shellRun is a `!` line that runs.
type shellRun struct {
	stop context.CancelFunc
}

// shell runs a `!` line as the person, in the background.
func (p *shell) shell(ctx context.Context, line string) {
	if line == "" {
		p.prompt()
		return
	}
	running, stop := context.WithCancel(ctx)
	run := &shellRun{stop}
	p.shells = append(p.shells, run)
	do := func(f func()) {
		select {
		case p.ended <- f:
		case <-ctx.Done():
		}
	}
	p.work.Go(func() {
		all := ""
		err := p.opt.Shell(running, line, func(out string) {
			do(func() { p.text(out); all += out })
		})
		do(func() {
			stop()
			p.shells = slices.DeleteFunc(p.shells, func(r *shellRun) bool { return r == run })
			p.flush()
			kept := transcript.KeptShell{Line: line, Output: text.CutTail(all, transcript.KeptBytes), Failed: err != nil}
			if err != nil {
				kept.Why = err.Error()
				p.say("Failed: " + kept.Why)
			}
			p.record.Note(transcript.KindShell, kept)
			p.prompt()
		})
	})
}
