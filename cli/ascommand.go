package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"unicode"

	"jcode/agent/event"
	"jcode/cli/console"
	"jcode/cli/core"
	goalcli "jcode/cli/goal"
	taskscli "jcode/cli/tasks"
	worktreescli "jcode/cli/worktrees"
	"jcode/internal/slicex"
	"jcode/internal/text"
	"jcode/tools/command"
	"jcode/tui"
)

// typedPrompts turn words that begin a turn outside the chat into prompts.
type typedPrompts struct {
	commands *command.Set
	list     core.Extensions
}

func newTypedPrompts(a *app) typedPrompts { return typedPrompts{&a.commands, a.list} }

// prompt turns words into a prompt: a slash command is carried out, anything else is taken as it
// is. A word that can only be a misspelt command is an error.
func (a typedPrompts) prompt(ctx context.Context, said string) (p event.Prompt, notice string, err error) {
	p = event.Prompt{Text: said}
	name, args, ok := cutCommand(said)
	if !ok {
		return p, "", nil
	}
	c, ok := a.commands.Find(name)
	if slices.Contains(chatOnly(), name) && (!ok || c.Origin != "") { // a file of that name does not take its place here either
		if ok {
			return p, "", console.Usage("/%s is a command of the chat: rename the command file that has its name to run it with jcode -p", name)
		}
		return p, "", console.Usage("/%s is a command of the chat, not of jcode -p: %s", name, nearestCommands(name, slicex.Map(a.commands.List(), commandName)))
	}
	if !ok { // of an MCP server or a script, which take a moment
		a.list.Ready(ctx)
		if c, ok = a.commands.Find(name); !ok {
			return p, "", a.checkUnknown(name, args)
		}
	}
	out, err := c.Run(ctx, args)
	if err != nil {
		return p, "", err
	}
	return event.Prompt{Text: cmp.Or(out.Prompt, out.Draft), Shown: out.Shown, Skill: out.Skill, Model: out.Model, Allow: out.Allow}, out.Notice, nil
}

// cutCommand splits "/name arguments"; ok is false for a path and anything else.
func cutCommand(said string) (name, args string, ok bool) {
	rest, ok := strings.CutPrefix(said, "/")
	if !ok {
		return "", "", false
	}
	name = rest
	if end := strings.IndexFunc(rest, unicode.IsSpace); end >= 0 {
		name, args = rest[:end], strings.TrimSpace(rest[end:])
	}
	plugin, command, full := strings.Cut(name, ":") // PLUGIN:COMMAND
	plain := plugin != "" && (command != "" || !full) && !strings.ContainsFunc(plugin+command, func(r rune) bool {
		return r != '_' && r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
	return name, args, plain
}

// checkUnknown reports that a command does not exist. A word followed by text is none if it names a file: people
// also write "/tmp is full".
func (a typedPrompts) checkUnknown(name, args string) error {
	known := slicex.Map(a.commands.List(), commandName)
	if args != "" && !strings.Contains(name, ":") { // a name with a colon is not a file
		if _, err := os.Stat("/" + name); err == nil {
			return nil
		}
	}
	return console.Usage("there is no command /%s: %s", name, nearestCommands(name, known))
}

// chatOnly lists the commands that need a terminal.
func chatOnly() []string {
	own := append(personCommands{flags: &flags{}}.List(), worktreescli.Command{}.List()...)
	own = append(own, slices.Concat(taskscli.Actions{}.List(), goalcli.Commands{}.List())...)
	return slices.Concat(tui.OwnCommands(), panelNames(), slicex.Map(own, commandName))
}

func commandName(c command.Command) string { return c.Name }

// panelNames returns the commands that show a list, in the order in which they are listed.
func panelNames() []string {
	return []string{"tools", "permissions", "jobs", "agents", "tasks", "review", "roles", "plugins", "mcp", "skills", "lua", "memory", "remote"}
}

// nearestCommands suggests at most three commands of a similar name.
func nearestCommands(name string, known []string) string {
	const most = 3
	var near []string
	for left := known; len(near) < most; {
		found := text.Nearest(name, left)
		if found == "" {
			break
		}
		near = append(near, "/"+found)
		left = slices.DeleteFunc(slices.Clone(left), func(c string) bool { return c == found })
	}
	if near != nil {
		return "did you mean " + strings.Join(near, " or ") + "?"
	}
	if len(known) == 0 {
		return "there are none here"
	}
	slices.Sort(known)
	list := "/" + strings.Join(known[:min(len(known), 12)], ", /")
	if len(known) > 12 {
		list += fmt.Sprintf(" and %d more", len(known)-12)
	}
	return "there are " + list
}
