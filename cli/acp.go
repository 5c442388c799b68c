package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/signal"
	"strings"
	"sync"
	"syscall"

	"jcode/agent"
	"jcode/agent/event"
	"jcode/agent/model/provider"
	"jcode/cli/acp"
	"jcode/cli/board"
	"jcode/cli/config"
	"jcode/cli/console"
	rolescli "jcode/cli/roles"
	"jcode/internal/slicex"
	"jcode/internal/text"
	mcpconfig "jcode/mcp/config"
	"jcode/session"
	"jcode/tools"
	"jcode/tools/builtin"
	"jcode/tools/command"
)

// acpCmd serves an editor.
type acpCmd struct{}

// Help is printed by `jcode acp --help`.
func (acpCmd) Help() string {
	return `An editor starts this command and speaks the Agent Client Protocol with it. In Zed's settings:

    "agent_servers": {
      "jcode": { "type": "custom", "command": "jcode", "args": ["acp"], "env": {} }
    }

docs/editors.md has JetBrains, Neovim and Emacs.`
}

// Run serves until the editor closes stdin.
func (acpCmd) Run(ctx context.Context, f *flags, std Streams) error {
	if f.Print || f.Continue || f.Resume != "" || f.Fork {
		return console.Usage("jcode acp: the editor chooses the session: -p, -c, -r and --fork have no use here")
	}
	signal.Ignore(syscall.SIGPIPE) // an editor that is gone is a write error, and children end in an orderly way
	out := std.Out
	std.Out = std.Err // stdout belongs to the protocol
	if err := acp.Serve(ctx, std.In, out, acpHost{flags: f, std: std}); err != nil && !errors.Is(err, context.Canceled) {
		return &console.Exit{Code: console.ExitModel, Err: err}
	}
	return nil
}

// acpHost opens the conversations of an editor.
type acpHost struct {
	flags *flags
	std   Streams
}

// Version implements acp.Host.
func (acpHost) Version() string { return Version() }

// Ready implements acp.Host.
func (h acpHost) Ready(ctx context.Context) error {
	a, err := newApp(ctx, h.flagsFor(nil), h.std)
	if err != nil {
		return err
	}
	defer a.close()
	_, err = a.models.Resolve(a.flags.Model)
	return authError(err)
}

// authError says what to set when no model can be reached.
func authError(err error) error {
	if errors.Is(err, provider.ErrNoProvider) || errors.Is(err, provider.ErrNoKey) {
		return fmt.Errorf("%w: %w; start jcode once in a terminal to enter a key", acp.ErrAuthRequired, err)
	}
	return err
}

// flagsFor returns the flags of one session: each app changes its own.
func (h acpHost) flagsFor(dirs []string) *flags {
	f := *h.flags
	f.AddDir = append(append([]string(nil), f.AddDir...), dirs...)
	return &f
}

// Open implements acp.Host.
func (h acpHost) Open(ctx context.Context, o acp.Opening) (*acp.Workspace, error) {
	var editor builtin.Editor
	if o.Files != nil {
		editor = o.Files
	}
	a, err := (&app{flags: h.flagsFor(o.Dirs), std: h.std, cwd: o.Cwd, editor: editor, inEditor: true}).open(ctx)
	if err != nil {
		return nil, err
	}
	back := newACPBackend(a)
	begun := begunSessions{a.paths.Data}
	if !o.New {
		if _, err := a.store.Get(ctx, o.ID); errors.Is(err, session.ErrNotFound) {
			o.New = begun.has(o.ID)
		}
	}
	conv, err := back.acpConversation(ctx, o)
	if err == nil && o.New && !a.flags.Private {
		err = begun.add(o.ID)
	}
	if err != nil {
		a.close()
		return nil, authError(err)
	}
	work, finish := background()
	a.onClose(finish)
	s := newSessions(a)
	a.commands.Sources = append([]command.Source{newPersonCommands(a, s), newEditorCommands(a)}, a.commands.Sources...)
	w := &acp.Workspace{
		Conversation: conv, Rows: conv.TakeRows(),
		Commands: a.commands.List,
		Prompt:   newTypedPrompts(a).prompt,
		Models:   back.acpModels, ListModels: back.acpListed, Roles: back.acpRoles, Trust: back.acpTrust,
		Start: func() {
			a.board.Attach(conv)
			a.startExtensions()
			for name, entry := range o.Servers {
				work(func(ctx context.Context) { back.connectFor(ctx, conv, name, entry) })
			}
		},
		Close: func() {
			conv.Close()
			if _, err := a.store.Get(context.WithoutCancel(ctx), conv.ID()); err == nil {
				begun.drop(conv.ID()) // it is stored now
			}
			a.close()
		},
	}
	return w, nil
}

// acpBackend is what the editor protocol needs from an app: conversations, models, roles, trust.
type acpBackend struct {
	store      *session.Store
	board      *board.Board
	dispatcher *tools.Dispatcher
	options    func() (agent.Options, error)
	resume     func(ctx context.Context, opt agent.Options, id string) (*agent.Conversation, error)
	starts     rolescli.Starts
	roles      rolescli.Actions
	question   func(ctx context.Context) *command.Trust         // about what the folder contains
	configured func() []config.Model                            // the models that the settings name
	models     func(ctx context.Context) ([]command.Row, error) // those that the endpoint lists, too
}

func newACPBackend(a *app) acpBackend {
	return acpBackend{
		a.store, &a.board, a.dispatcher, a.options, a.resume, newRoleStarts(a), newRoleActions(a), newUntrusted(a).Question,
		func() []config.Model { return a.config.Models }, newModelList(a).Rows,
	}
}

// acpConversation starts or resumes the session that an editor names.
func (a acpBackend) acpConversation(ctx context.Context, o acp.Opening) (*agent.Conversation, error) {
	opt, err := a.options()
	if err != nil {
		return nil, err
	}
	if !o.New {
		conv, err := a.resume(ctx, opt, o.ID)
		if err != nil {
			return nil, err
		}
		if conv.State().ReadOnly {
			conv.Close()
			hold, err := a.store.Hold(o.ID)
			if err == nil { // its holder has just closed it
				err = errors.Join(hold.Release(), errors.New("the session was open in another jcode: load it again"))
			}
			return nil, err
		}
		return conv, nil
	}
	opt.Session = o.ID
	return a.starts.Begin(ctx, opt)
}

// connectFor connects a server that the editor supplied. It is asked about as if the model had requested it,
// and its lease belongs to this session.
func (a acpBackend) connectFor(ctx context.Context, conv *agent.Conversation, title string, entry json.RawMessage) {
	name := mcpconfig.KeyFor(title)
	shown := shownName(name, title)
	var args map[string]any
	if err := json.Unmarshal(entry, &args); err != nil {
		a.board.Say(event.LevelError, "MCP server %s: %v", shown, err)
		return
	}
	args["name"] = name
	raw, err := json.Marshal(args)
	if err != nil {
		a.board.Say(event.LevelError, "MCP server %s: %v", shown, err)
		return
	}
	out := a.dispatcher.Dispatch(ctx, tools.Call{
		ID: "connect-" + name, Name: "mcp_connect", Arguments: raw,
		Caller: tools.Caller{Origin: tools.OriginClient, Session: conv.ID(), Label: "the editor", Mode: conv.Mode, Asker: conv.Person()},
	})
	switch {
	case ctx.Err() != nil:
	case out.Result.Failed:
		a.board.Say(event.LevelWarn, "the editor's MCP server %s is not connected: %s", shown, text.Headline(out.Result.Text))
	default:
		a.board.Say(event.LevelInfo, "the editor's MCP server %s is connected", shown)
	}
}

// background returns a func that runs functions in the background, and one that cancels them and waits for
// all.
func background() (run func(func(context.Context)), finish func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var work sync.WaitGroup
	return func(f func(context.Context)) { work.Go(func() { f(ctx) }) }, func() {
		cancel()
		work.Wait()
	}
}

// shownName names a server of the editor for people: as the editor does, and as it is called here.
func shownName(name, title string) string {
	if title == name {
		return name
	}
	return text.Visible(title) + " (here: " + name + ")"
}

// acpListed asks the endpoint for its models.
func (a acpBackend) acpListed(ctx context.Context) []acp.Choice {
	rows, err := a.models(ctx)
	if err != nil {
		return nil // the model in use is an option in any case
	}
	out := make([]acp.Choice, 0, len(rows))
	for _, r := range rows {
		out = append(out, acp.Choice{Value: r.ID, Name: r.Name, Description: r.Info})
	}
	return out
}

// acpModels lists what is known without asking an endpoint: the current model comes first.
func (a acpBackend) acpModels(context.Context) []acp.Choice {
	return slicex.Map(a.configured(), func(m config.Model) acp.Choice { return acp.Choice{Value: m.ID, Name: m.ID} })
}

func (a acpBackend) acpRoles(ctx context.Context) []acp.Choice {
	rows, err := a.roles.Rows(ctx)
	if err != nil {
		a.board.Say(event.LevelWarn, "roles: %v", err)
	}
	return slicex.Map(rows, func(r command.Row) acp.Choice { return acp.Choice{Value: r.ID, Name: r.Name, Description: r.Info} })
}

// acpTrust returns the question about what the folder contains, nil if there is nothing to ask.
func (a acpBackend) acpTrust(ctx context.Context) *acp.Trust {
	q := a.question(ctx)
	if q == nil {
		return nil
	}
	t := &acp.Trust{Folder: q.Folder, Accept: func(ctx context.Context) error { return q.Decide(ctx, true) }, Later: q.Later}
	for _, row := range q.Items {
		t.Items = append(t.Items, strings.TrimSpace(row.State+" "+row.Name+": "+row.Info))
	}
	return t
}

// kept opens only the store, for requests that need no folder.
func (h acpHost) kept(ctx context.Context, f func(*app) error) error {
	a, err := openKept(ctx, h.flagsFor(nil), h.std)
	if err != nil {
		return err
	}
	defer a.close()
	return f(a)
}

// List implements acp.Host.
func (h acpHost) List(ctx context.Context, cwd string) (rows []session.Session, err error) {
	filter := session.Filter{All: cwd == ""}
	if cwd != "" {
		if filter.ProjectID, _, err = session.ProjectID(cwd); err != nil {
			return nil, err
		}
	}
	err = h.kept(ctx, func(a *app) error {
		rows, err = a.store.List(ctx, filter)
		return err
	})
	return rows, err
}

// Fork implements acp.Host.
func (h acpHost) Fork(ctx context.Context, id, cwd string) (copied string, created bool, err error) {
	project, _, err := session.ProjectID(cwd)
	if err != nil {
		return "", false, err
	}
	err = h.kept(ctx, func(a *app) error {
		v, err := a.store.Fork(ctx, id, 0)
		switch {
		case errors.Is(err, session.ErrNotFound) && (begunSessions{a.paths.Data}).has(id):
			created = true
			v.ID, err = session.NewID()
		case err == nil:
			err = a.store.Update(ctx, v.ID, session.Change{Cwd: &cwd, ProjectID: &project})
		}
		copied = v.ID
		return err
	})
	return copied, created, err
}

// Delete implements acp.Host.
func (h acpHost) Delete(ctx context.Context, id string) error {
	return h.kept(ctx, func(a *app) error {
		begunSessions{a.paths.Data}.drop(id)
		if _, err := a.store.Get(ctx, id); err != nil {
			return err
		}
		hold, err := a.store.Hold(id)
		if err != nil {
			return err
		}
		return errors.Join(outputsOf(a).Forget(ctx, id), hold.Release())
	})
}
