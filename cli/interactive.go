package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"jcode/agent"
	"jcode/agent/event"
	"jcode/agent/model/provider"
	backgroundcli "jcode/cli/background"
	"jcode/cli/board"
	"jcode/cli/config"
	"jcode/cli/console"
	"jcode/cli/demo"
	hookscli "jcode/cli/hooks"
	"jcode/cli/mentions"
	modelscli "jcode/cli/models"
	"jcode/cli/outputs"
	rolescli "jcode/cli/roles"
	sessionscli "jcode/cli/sessions"
	"jcode/cli/tour"
	"jcode/cli/typed"
	"jcode/cli/undo"
	workplacecli "jcode/cli/workplace"
	worktreescli "jcode/cli/worktrees"
	"jcode/internal/text"
	"jcode/session"
	"jcode/session/role"
	"jcode/tools"
	"jcode/tools/command"
	"jcode/tui"
	"jcode/tui/front"
	plainform "jcode/tui/plain"
)

// chat runs the terminal UI until the person quits.
func (a *app) chat(ctx context.Context, prompt string) error {
	ctx, leave := context.WithCancelCause(ctx)
	defer leave(nil)
	a.firstRole.Forms = true
	s := newSessions(a)
	defer s.close()
	going := newGoals(a)
	defer going.Pursuit.Close()
	a.list = append(a.list, going.Extension())
	changes, unwatch := a.servers.Watch()
	defer unwatch()
	views := sessionscli.Contents{Store: a.store, Board: &a.board, Shown: a.workspace.Shown}
	opt := front.Options{
		Prompt: cmp.Or(prompt, a.config.Prelude.Command), Editor: a.config.Editor, Programs: a.programs(), Sessions: s, History: newHistory(a), Commands: a.commands, Panels: chatPanels(a),
		Models: newModelList(a).Rows, Roles: newRoleActions(a).Rows, Files: mentions.Files(a.cwd), Mentions: a.servers.Resources, Shell: newPersonShell(a).Run, ToBackground: newPersonShell(a).ToBackground, Changes: views.ChangedFiles, Undoable: views.Undoable, Keep: a.store.History().AddShown, Preview: views.Preview, Context: views.ContextUse,
		Image: mentions.Pictures{Home: a.paths.Home, Cwd: a.cwd}.Read, Pictures: filepath.Join(a.paths.Data, "pictures"), Save: func(key, value string) error { return config.Set(a.paths.File(), key, value) },
		Theme: a.config.Theme, Themes: filepath.Join(a.paths.Config, "themes"), Keys: keyTable(a.config.Keys), Status: a.config.StatusLine.Parts, Branch: newShownFolder(a).Branch, Project: newShownFolder(a).Project, StatusCommand: workplacecli.StatusLine(a.config.StatusLine.Command, a.cwd, a.shell),
		Vi: config.IsOn(a.config.Vi), Notifications: a.config.Notifications, Leave: a.config.Leave, Health: a.list.Status, Changed: followed(changes),
		Version: Version(), Cwd: a.cwd, Home: a.paths.Home,
	}
	// A builtin's name takes precedence, so they come first.
	opt.Commands.Sources = append([]command.Source{newPersonCommands(a, s), newWorktreeCommand(a, leave), backgroundcli.DetachCommand(a.std.held, chatHere(a), leave), newTaskActions(a), going}, opt.Commands.Sources...)
	s.elsewhere = func(row session.Session) error { return goElsewhere(a, row, leave) }
	if !a.models.Plays() { // the tour's home is removed when it ends
		opt.Login = newFirstStart(a).Guide(s.first, leave)
	}
	if _, err := a.models.Resolve(a.flags.Model); errors.Is(err, provider.ErrNoProvider) || errors.Is(err, provider.ErrNoKey) {
		opt.First = newFirstStart(a).Guide(s.first, leave)
	} else if err != nil {
		return a.startError(err)
	} else {
		opt.Start = func(ctx context.Context) (front.Session, error) {
			out, err := s.first(ctx)
			if err != nil { // the requested session can't begin, and there is nothing to continue with
				err = a.startError(err)
				leave(err)
			}
			return out, err
		}
	}
	opt.Trust, opt.TrustAgain = newUntrusted(a).Question, newUntrusted(a).Again
	opt.Visible, opt.Said = a.std.held.Visible(), a.std.held.Said()
	opt.Live = newLiveSessions(a, leave)
	over := a.std.held.Follow(ctx, chatHere(a), leave)
	err := a.runUI(ctx, opt)
	over()
	var exit *console.Exit
	cause := context.Cause(ctx)
	if to, moved := errors.AsType[*worktreescli.Move](cmp.Or(cause, err)); moved {
		return to
	}
	if to, away := errors.AsType[*backgroundcli.Detached](cause); away {
		return to
	}
	if to, leaves := errors.AsType[*backgroundcli.Elsewhere](cause); leaves {
		return to
	}
	switch {
	case errors.Is(cause, backgroundcli.ErrEnded): // as if the person had quit
	case errors.As(err, &exit):
		return err
	case errors.Is(err, modelscli.ErrTour):
		return demo.Cmd{}.Run(context.WithoutCancel(ctx), newTourSetup(a.flags, a.std))
	case errors.Is(err, tui.ErrInterrupted), errors.Is(err, context.Canceled):
		return &console.Exit{Code: console.ExitInt, Silent: true, Err: err}
	case err != nil:
		return &console.Exit{Code: console.ExitModel, Err: err}
	}
	if a.models.Plays() {
		fmt.Fprintln(a.std.Err, "jcode: that was the tour: run jcode in a project of yours to begin")
	}
	if id := s.id(); id != "" && !a.models.Plays() && !a.store.Memory().Has(id) { // nothing of a tour is kept
		fmt.Fprintln(a.std.Err, "jcode: resume with: "+resumeLine(ctx, a.store, id))
	}
	return nil
}

// resumeLine returns the line that continues a session, with its title.
func resumeLine(ctx context.Context, store *session.Store, id string) string {
	line := "jcode -r " + session.ShortID(id)
	if s, err := store.Get(context.WithoutCancel(ctx), id); err == nil && s.Title != "" {
		line += "  " + strconv.Quote(text.Truncate(text.OneLine(text.Visible(s.Title)), 60, "…"))
	}
	return line
}

// runUI runs the terminal UI, or its plain form without a screen.
func (a *app) runUI(ctx context.Context, opt front.Options) error {
	dumb := a.std.Getenv("TERM") == "dumb"
	if !a.flags.Plain && !dumb {
		return tui.Run(ctx, opt)
	}
	if !a.flags.Plain {
		fmt.Fprintln(a.std.Err, "jcode: this terminal cannot move its cursor (TERM=dumb): plain mode, as with --plain")
	}
	if opt.Start == nil {
		return console.Usage("%w (plain mode cannot lead to one)", provider.ErrNoProvider)
	}
	if !a.std.InIsTerminal { // lines of a script are not answers to a question about the folder
		opt.Trust = nil
	}
	return plainform.Run(ctx, opt, a.std.In, a.std.Out)
}

// sessions switches between conversations; one is open at a time.
type sessions struct {
	board     *board.Board
	store     *session.Store
	saved     *outputs.Outputs
	project   string
	userHooks *hookscli.Hooks
	drafts    typed.History
	tour      bool
	// starting opens the conversation that the command line names, resuming a stored one.
	starting func(ctx context.Context) (*agent.Conversation, error)
	resuming func(ctx context.Context, opt agent.Options, id string) (*agent.Conversation, error)
	// elsewhere returns an error, and leaves, if a session works in another folder of the project.
	elsewhere func(row session.Session) error
	// defaults returns the options of a conversation according to the command line.
	defaults func() (agent.Options, error)
	// begin starts the extensions, at the first conversation.
	begin   func()
	started bool
	// asked returns the role that asks for values at the beginning, once; nil for none.
	asked func() *rolescli.ToEnter
	// toldPrivate says that the person was told what a private conversation means.
	toldPrivate bool
	branch      bool // --fork: the session that is picked first is forked
}

func newSessions(a *app) *sessions {
	return &sessions{
		board: &a.board, store: a.store, saved: a.outputs, project: a.project, userHooks: a.userHooks, drafts: newHistory(a), tour: a.models.Plays(),
		starting: a.conversation, resuming: a.resume, defaults: a.options, begin: a.startExtensions, asked: a.firstRole.Take,
		branch: a.flags.Fork && a.flags.Resume == pickSession,
	}
}

func (s *sessions) conv() *agent.Conversation { return s.board.Open() }

func (s *sessions) id() string { return s.board.Session() }

func (s *sessions) close() {
	if c := s.conv(); c != nil {
		c.Close()
	}
}

// first opens the conversation that the command line names, after the first frame.
func (s *sessions) first(ctx context.Context) (front.Session, error) {
	conv, err := s.starting(ctx)
	if err != nil {
		return front.Session{}, err
	}
	out, err := s.open(ctx, conv, "other")
	if s.tour {
		out.Notices = append([]event.Notice{{Level: event.LevelInfo, Text: tour.Head}}, out.Notices...)
	}
	return out, err
}

// open makes a conversation the current one. reason is why the previous one is left, in the terms of hooks.
func (s *sessions) open(ctx context.Context, conv *agent.Conversation, reason string) (front.Session, error) {
	old := s.conv()
	out := front.Session{Conversation: conv, Events: conv.Subscribe(), Todo: conv.Todo(), Usage: conv.Usage(), Agents: conv.Agents().List()}
	s.board.Attach(conv)
	if old != nil && old != conv {
		id := old.ID()
		old.Close()
		s.userHooks.Left(id, reason)
	}
	if !s.started {
		s.started = true
		s.begin()
	}
	if id := conv.ID(); id != "" {
		rows := conv.TakeRows()
		if rows == nil {
			var err error
			if rows, err = s.store.History().All(ctx, id); err != nil {
				return out, err
			}
		}
		out.History = rows
		shown, err := s.store.History().Shown(ctx, id)
		if err != nil {
			return out, err
		}
		out.Shown = shown
	}
	if conv.Private() && !s.toldPrivate {
		s.toldPrivate = true
		out.Notices = append(out.Notices, event.Notice{Level: event.LevelInfo, Text: privateNotice})
	}
	if first := s.asked(); first != nil {
		out.Role, out.EnterRole = first.Name, func(ctx context.Context) error { return conv.SetRoleWith(ctx, first.Name, first.Given) }
	}
	draft, err := s.drafts.Draft(ctx)
	out.Draft = draft
	return out, err
}

// New begins a session with the same model, mode and role; with carry it starts from the last
// exchange.
func (s *sessions) New(ctx context.Context, carry bool) (front.Session, error) {
	if id := s.id(); carry && id != "" {
		carried, err := s.store.Carry(ctx, id)
		if err == nil {
			return s.enter(ctx, carried.ID, "clear")
		}
		s.board.Say(event.LevelWarn, "nothing is carried over: %v", err)
	}
	opt, err := s.options()
	if err != nil {
		return front.Session{}, err
	}
	conv, err := agent.New(opt)
	if err != nil {
		return front.Session{}, err
	}
	if err := inherit(ctx, conv, s.conv()); err != nil {
		conv.Close()
		return front.Session{}, err
	}
	return s.open(ctx, conv, "clear")
}

// inherit enters the role of another conversation and takes over a model that was chosen in it. A
// role that no longer exists is entered as it was.
func inherit(ctx context.Context, conv, from *agent.Conversation) error {
	if from == nil || from.Role().Name == "" {
		return nil
	}
	conv.TakeRoleValues(from)
	err := conv.SetRole(ctx, from.Role().Name)
	if errors.Is(err, role.ErrUnknown) {
		err = conv.EnterRole(ctx, from.Role())
	}
	if err != nil {
		return err
	}
	if name := from.OwnModel(); name == from.State().Model && name != conv.State().Model {
		return conv.SetModel(name)
	}
	return nil
}

// options returns the options of a further conversation, with what the person has set.
func (s *sessions) options() (agent.Options, error) {
	opt, err := s.defaults()
	if old := s.conv(); err == nil && old != nil {
		opt.Mode = old.Mode()
		opt.Model = old.OwnModel()
	}
	return opt, err
}

// Open continues a session by its ID or title.
func (s *sessions) Open(ctx context.Context, name string) (front.Session, error) {
	return s.enter(ctx, name, "resume")
}

// enter continues a session, and leaves the open one for a reason in the terms of hooks.
func (s *sessions) enter(ctx context.Context, name, reason string) (front.Session, error) {
	found, err := s.store.Find(ctx, s.project, name)
	if err != nil {
		return front.Session{}, err
	}
	id := found.ID
	if s.branch {
		s.branch = false
		return s.Fork(ctx, id, 0)
	}
	if c := s.conv(); c != nil && c.ID() == id {
		return s.open(ctx, c, reason)
	}
	if s.elsewhere != nil {
		if err := s.elsewhere(found); err != nil {
			return front.Session{}, err
		}
	}
	opt, err := s.options()
	if err != nil {
		return front.Session{}, err
	}
	conv, err := s.resuming(ctx, opt, id)
	if err != nil {
		return front.Session{}, err
	}
	return s.open(ctx, conv, reason)
}

// Fork continues in a copy.
func (s *sessions) Fork(ctx context.Context, id string, upTo int64) (front.Session, error) {
	copied, err := s.store.Fork(ctx, id, upTo)
	if err != nil {
		return front.Session{}, err
	}
	out, err := s.Open(ctx, copied.ID)
	part := ""
	if upTo > 0 {
		part = "the beginning of "
	}
	out.Notices = append(out.Notices, event.Notice{Level: event.LevelInfo, Text: fmt.Sprintf("This is a copy of %s“%s”, which stays as it is.", part, copied.Title)})
	return out, err
}

// List returns sessions for the picker.
func (s *sessions) List(ctx context.Context, query string, all bool) ([]session.Session, error) {
	return s.store.List(ctx, session.Filter{ProjectID: s.project, All: all, Query: query, Limit: 200})
}

// Delete deletes a session other than the open one, with what its results saved.
func (s *sessions) Delete(ctx context.Context, id string) error {
	if id == s.id() {
		return errors.New("this session is open: /new first")
	}
	hold, err := s.store.Hold(id)
	if err != nil {
		return err
	}
	return errors.Join(s.saved.Forget(ctx, id), hold.Release())
}

// Rename gives a session other than the open one a title.
func (s *sessions) Rename(ctx context.Context, id, title string) error {
	return s.store.Rename(ctx, id, title)
}

// resume continues a session: with its model if that is still available, in its role, and in its mode if that
// is stricter than the current one.
func (a *app) resume(ctx context.Context, opt agent.Options, id string) (*agent.Conversation, error) {
	row, err := a.store.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	if row.Model != "" && !a.modelNamed {
		if _, err := a.models.Resolve(row.Model); err != nil {
			a.board.Say(event.LevelWarn, "model %s of this session is unavailable (%v): using the current model", row.Model, err)
		} else {
			opt.Model = row.Model
		}
	}
	if kept, err := tools.ParseMode(row.Mode); err == nil && a.flags.Mode == "" {
		opt.Mode = opt.Mode.Under(kept) // more permissions than now must be granted by hand
	}
	if _, err := os.Stat(row.Cwd); row.Cwd != "" && err != nil {
		a.board.Say(event.LevelWarn, "the folder %s of this session is gone: working in %s", row.Cwd, a.cwd)
	}
	conv, err := agent.Resume(ctx, opt, id)
	if err != nil {
		return nil, err
	}
	if !conv.State().ReadOnly {
		undo.Finish(ctx, a.store.Checkpoints(), a.board.Say, id)
	}
	return newRoleStarts(a).InRole(ctx, conv, id)
}
