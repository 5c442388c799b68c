package cli

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"

	"jcode/agent/event/wire"
	"jcode/cli/console"
	"jcode/cli/live"
	"jcode/internal/text"
	"jcode/remote"
	"jcode/session"
)

type sessionsPsCmd struct {
	JSON bool `name:"json" help:"Print a JSON array."`
}

// Run lists the sessions that are open.
func (c *sessionsPsCmd) Run(ctx context.Context, _ *flags, std Streams) error {
	l, err := newLive(std)
	if err != nil {
		return err
	}
	all, err := l.List(ctx)
	if err != nil {
		fmt.Fprintln(std.Err, "jcode: "+err.Error())
	}
	if c.JSON {
		return console.PrintJSON(std.Out, append([]live.Session{}, all...))
	}
	if len(all) == 0 {
		fmt.Fprintln(std.Err, "no session is open in another terminal")
		return nil
	}
	w := tabwriter.NewWriter(std.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tPROCESS\tWHERE\tSTATE\tMODE\tMODEL\tFOLDER\tTITLE")
	for _, s := range all {
		state := []string{"idle", "working", "needs you"}[live.Urgency(s)]
		fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%s\t%s\t%s\t%s\n", cmp.Or(session.ShortID(s.SessionID), "-"), s.Pid, s.In(), state, cmp.Or(s.Mode, "-"), text.Visible(cmp.Or(s.Model, "-")), text.Visible(s.Cwd), text.Visible(cmp.Or(s.Title, "(no title)")))
	}
	return w.Flush()
}

type sessionsWatchCmd struct {
	Session string `arg:"" optional:"" help:"End of the ID or part of the title; not needed if only one is open."`
	JSON    bool   `name:"json" help:"Print events as lines of JSON, as --output-format stream-json does."`
}

// watched writes an event for people.
func watched(out *bufio.Writer, line json.RawMessage) {
	var ev struct {
		Type, Prompt, Delta, Name, Message, Content, Text, Reason, By, Agent string
		Arguments                                                            json.RawMessage
		Question                                                             wire.Question
		Options                                                              []string
		OK                                                                   bool
	}
	if json.Unmarshal(line, &ev) != nil || ev.Agent != "" {
		return
	}
	say := func(format string, args ...any) {
		fmt.Fprintf(out, format+"\n", args...) //nolint:errcheck // the error sticks and comes with Flush
	}
	switch ev.Type {
	case "turn_start":
		say("\n> %s", text.Visible(ev.Prompt))
	case "assistant":
		if ev.Text != "" {
			say("%s", text.Clean(ev.Text))
		}
	case "tool_call":
		say("* %s %s", text.Visible(ev.Name), text.Visible(text.Cut(string(ev.Arguments), 200)))
	case "tool_result":
		if !ev.OK {
			say("  failed: %s", text.Visible(text.Cut(ev.Content, 300)))
		}
	case "notice":
		say("- %s", text.Visible(ev.Message))
	case "approval_asked":
		say("? %s", text.Visible(ev.Question.Title))
		for i, o := range ev.Question.Options {
			say("  %d  %s", i+1, text.Visible(o.Label))
		}
		for i, h := range ev.Question.Hunks {
			say("  --hunks %d  %s", i+1, text.Visible(fmt.Sprintf("%s line %d +%d -%d", h.File, h.Line, h.Added, h.Removed)))
		}
	case "ask":
		say("? %s", text.Visible(ev.Text))
		for i, o := range ev.Options {
			say("  %d  %s", i+1, text.Visible(o))
		}
	case "approval_closed", "ask_closed":
		say("  answered%s", map[bool]string{true: " by " + text.Visible(ev.By)}[ev.By != ""])
	case "turn_end":
		say("(%s)", ev.Reason)
	}
	_ = out.Flush() // a reader that is gone ends the command with its next signal
}

type sessionsSendCmd struct {
	Session string   `arg:"" help:"End of the ID or part of the title."`
	Prompt  []string `arg:"" help:"What to do next."`
}

// Run sends a prompt to an open session.
func (c *sessionsSendCmd) Run(ctx context.Context, _ *flags, std Streams) error {
	return withOpen(ctx, std, c.Session, func(client *remote.Client, id string) error {
		return client.Call(ctx, "prompt", remote.Prompt{Session: id, Text: strings.Join(c.Prompt, " ")}, nil)
	})
}

type sessionsStopCmd struct {
	Session string `arg:"" optional:"" help:"End of the ID or part of the title; not needed if only one is open."`
	End     bool   `help:"End a session in the background altogether, as /quit does; jcode attach ID continues it."`
}

// Run ends the running turn of an open session, or the session.
func (c *sessionsStopCmd) Run(ctx context.Context, _ *flags, std Streams) error {
	return withOpen(ctx, std, c.Session, func(client *remote.Client, id string) error {
		err := client.Call(ctx, "interrupt", remote.Of{Session: id}, nil)
		if err == nil && c.End {
			err = client.Call(ctx, "end", nil, nil)
		}
		return err
	})
}

// withOpen does something with an open session that this program controls meanwhile.
func withOpen(ctx context.Context, std Streams, name string, do func(client *remote.Client, id string) error) error {
	l, err := newLive(std)
	if err != nil {
		return err
	}
	client, s, err := l.Find(ctx, name, remote.Handlers{})
	if err != nil {
		return err
	}
	defer client.Close()
	var at remote.Attached
	err = client.Call(ctx, "attach", remote.Attach{Session: s.SessionID, Role: remote.Control}, &at)
	if err == nil {
		err = do(client, s.SessionID)
	}
	if err != nil {
		return &console.Exit{Code: console.ExitModel, Err: err}
	}
	return nil
}
