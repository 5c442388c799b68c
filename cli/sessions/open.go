package sessionscli

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"text/tabwriter"

	"jcode/cli/console"
	"jcode/cli/live"
	"jcode/internal/text"
	"jcode/remote"
	"jcode/session"
)

type psCmd struct {
	JSON bool `name:"json" help:"Print a JSON array."`
}

// Run lists the sessions that are open.
func (c *psCmd) Run(ctx context.Context, std Setup) error {
	l, err := std.Live()
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

type sendCmd struct {
	Session string   `arg:"" help:"End of the ID or part of the title."`
	Prompt  []string `arg:"" help:"What to do next."`
}

// Run sends a prompt to an open session.
func (c *sendCmd) Run(ctx context.Context, std Setup) error {
	return withOpen(ctx, std, c.Session, func(client *remote.Client, id string) error {
		return client.Call(ctx, "prompt", remote.Prompt{Session: id, Text: strings.Join(c.Prompt, " ")}, nil)
	})
}

type stopCmd struct {
	Session string `arg:"" optional:"" help:"End of the ID or part of the title; not needed if only one is open."`
	End     bool   `help:"End a session in the background altogether, as /quit does; jcode attach ID continues it."`
}

// Run ends the running turn of an open session, or the session.
func (c *stopCmd) Run(ctx context.Context, std Setup) error {
	return withOpen(ctx, std, c.Session, func(client *remote.Client, id string) error {
		err := client.Call(ctx, "interrupt", remote.Of{Session: id}, nil)
		if err == nil && c.End {
			err = client.Call(ctx, "end", nil, nil)
		}
		return err
	})
}

// withOpen does something with an open session that this program controls meanwhile.
func withOpen(ctx context.Context, std Setup, name string, do func(client *remote.Client, id string) error) error {
	l, err := std.Live()
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
