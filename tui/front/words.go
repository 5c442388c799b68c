package front

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"jcode/agent/event"
	"jcode/internal/text"
	"jcode/internal/toolcard"
	"jcode/session"
	"jcode/tools"
	"jcode/tools/command"
	"jcode/tui/look"
	"jcode/tui/transcript"
)

// NewTitled returns a new session, with a title if one is given.
func NewTitled(ctx context.Context, sessions Sessions, carry bool, title string) (Session, error) {
	s, err := sessions.New(ctx, carry)
	if err == nil && title != "" {
		err = s.Conversation.Rename(title)
	}
	return s, err
}

// ChangeLine names the file and counts what changed in it, if known.
func ChangeLine(f command.FileChange) string {
	s := look.VisibleName(f.Path)
	if f.Added+f.Removed > 0 {
		s += " +" + strconv.Itoa(f.Added) + " -" + strconv.Itoa(f.Removed)
	}
	return s
}

func SessionRows(found []session.Session, now time.Time, current string) []command.Row {
	rows := make([]command.Row, 0, len(found))
	for _, s := range found {
		r := command.Row{ID: s.ID, Name: cmp.Or(s.Title, cmp.Or(session.ShortTitle(s.FirstPrompt), "untitled")), Current: s.ID == current}
		r.State = Age(now.Sub(s.Updated))
		info := []string{text.Count(s.Messages, "message")}
		if s.Private {
			info = append(info, "private, in memory")
		}
		if s.ParentID != "" {
			info[0] = "fork, " + info[0]
		}
		if s.Model != "" {
			info = append(info, s.Model)
		}
		if s.Cost > 0 {
			info = append(info, text.Spent(s.Cost, s.Estimated))
		}
		r.Info = strings.Join(info, " · ")
		r.Detail = strings.TrimSpace(s.FirstPrompt + "\n" + s.Cwd)
		rows = append(rows, r)
	}
	return rows
}

// Age says how long ago something was.
func Age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "now"
	case d < time.Hour:
		return strconv.Itoa(int(d.Minutes())) + " min ago"
	case d < 24*time.Hour:
		return strconv.Itoa(int(d.Hours())) + " h ago"
	}
	return strconv.Itoa(int(d.Hours()/24)) + " d ago"
}

// ForkEnd returns the last message that `/fork args` copies, 0 for all. It returns false if args is not the
// number of a prompt.
func ForkEnd(prompts []*transcript.Prompt, args string) (upTo int64, ok bool) {
	if args == "" {
		return 0, true
	}
	n, err := strconv.Atoi(args)
	switch {
	case err != nil || n < 1 || n > len(prompts):
		return 0, false
	case n == len(prompts):
		return 0, true
	}
	return prompts[n].Seq - 1, true
}

// WhichFork asks for the number of a prompt, and lists the prompts.
func WhichFork(prompts []*transcript.Prompt) string {
	said := "Fork up to the answer to which prompt? /fork NUMBER; /fork alone copies everything."
	for i, pr := range prompts {
		said += "\n" + strconv.Itoa(i+1) + ". " + look.OneLine(pr.Prompt)
	}
	return said
}

// ToolsChanged says which tools the model has from now on, "" if that is no news to a person. What mode plan takes away
// is said as what it means.
func ToolsChanged(ev event.ToolsChanged, mode tools.Mode) string {
	if changes := slices.ContainsFunc(ev.Removed, func(name string) bool { return toolcard.Of(name).Kind == toolcard.Edit }); changes && mode == tools.ModePlan {
		return "In plan mode, files can't be changed."
	}
	return strings.Join(append(byServer("New tools", "", told(ev.Added)), byServer("Tools", " that are gone", told(ev.Removed))...), " · ")
}

// byServer says of tools where they are from: jcode's own come first, then those of each MCP server after its name.
func byServer(what, became string, names []string) (out []string) {
	servers := []string{""}
	of := map[string][]string{}
	for _, name := range names {
		server, tool := "", name
		if rest, ok := strings.CutPrefix(name, "mcp:"); ok {
			server, tool, _ = strings.Cut(rest, ":")
		}
		if !slices.Contains(servers, server) {
			servers = append(servers, server)
		}
		of[server] = append(of[server], tool)
	}
	for _, server := range servers {
		switch {
		case of[server] == nil:
		case server == "":
			out = append(out, what+became+": "+list(of[server]))
		default:
			out = append(out, what+" from "+server+became+": "+list(of[server]))
		}
	}
	return out
}

// told leaves out the tools that come by themselves, to steer what another one started: they are news to the model alone.
func told(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		card := toolcard.Of(name)
		return card.Steers && len(card.After) > 0
	})
}

// list names the first few of many.
func list(names []string) string {
	if more := len(names) - look.NamesShown; more > 0 {
		return strings.Join(names[:look.NamesShown], ", ") + " and " + strconv.Itoa(more) + " more"
	}
	return strings.Join(names, ", ")
}

// TypedAs returns what the person typed to send a message.
func TypedAs(m event.Prompt) string {
	s := cmp.Or(m.Shown, m.Text)
	if m.Role != "" {
		s = "/role " + m.Role + " " + s
	}
	return s
}

// BlindNotice says what happens to pictures with a model that accepts none.
func BlindNotice(model string, pictures int) string {
	return model + " does not accept pictures: it only learns that " + text.Count(pictures, "picture") + " came along. /model chooses another."
}

// RoleValue parses `set NAME VALUE` after /role.
func RoleValue(args string) (key, value string, ok bool) {
	rest, ok := strings.CutPrefix(args, "set ")
	if !ok {
		return "", "", false
	}
	key, value, _ = strings.Cut(strings.TrimSpace(rest), " ")
	return key, strings.TrimSpace(value), key != ""
}

// Highest says that a mode allows more than whoever administers the machine lets it.
func Highest(most tools.Mode) string {
	return "on this machine at most mode " + string(most) + " is allowed: jcode config show says where that is set"
}

// ModeHelp describes an approval mode in one sentence.
func ModeHelp(m tools.Mode) string {
	return map[tools.Mode]string{
		tools.ModePlan:  "only reads; nothing is changed",
		tools.ModeAsk:   "asks before each edit and command",
		tools.ModeEdits: "edits in this folder run, commands ask",
		tools.ModeAuto:  "commands run inside the sandbox; leaving it asks",
		tools.ModeYolo:  "everything runs; protected files are still shown first",
	}[m]
}
