package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"jcode/agent"
	"jcode/agent/event"
	"jcode/cli/board"
	"jcode/cli/config"
	"jcode/internal/text"
	"jcode/session"
	"jcode/skills"
	"jcode/skills/instructions"
	"jcode/tools"
	"jcode/tools/command"
	"jcode/tools/permission"
)

// learning is what files teach the agent in this folder: skills, command files, and
// instructions for each conversation.
type learning struct {
	board    *board.Board
	flags    *flags
	paths    config.Paths
	cwd      string
	places   skills.Places
	history  func(ctx context.Context, sessionID string) ([]session.Message, error)
	replaced func() []string // roles whose name the project has taken over
	onClose  func(func())
	// allow puts rules in force for a session, until the returned function is called.
	allow func(sessionID string, rules []string) (func(), error)

	skills *skills.Registry
	files  *skills.CommandFiles

	// foreign returns whose a file is if it belongs to another user and does not count; nil if all count.
	foreign func(path string) string

	broken   sync.Once
	mu       sync.Mutex
	texts    map[string]*sessionInstructions // by session ID
	releases []func()                        // for rules that end with the turn
	told     map[string]bool                 // names that the project has taken over, as the person was told
}

// sessionInstructions are the instructions of one conversation.
type sessionInstructions struct {
	set  *instructions.Set
	news []instructions.News // of folders that were touched, for the next step
}

// openLearning does not look for files: that happens when the first prompt is built, or the
// first command is looked up.
func (a *app) openLearning() error {
	places := a.skillPlaces()
	l := &learning{
		foreign: foreignFiles(a),
		board:   &a.board, flags: a.flags, paths: a.paths, cwd: a.cwd, places: places, history: a.store.History().All,
		replaced: newRoleFiles(a).replaced, onClose: a.onClose, allow: a.allow,
		texts: map[string]*sessionInstructions{}, told: map[string]bool{},
	}
	a.learning = l
	l.skills = skills.New(skills.Options{
		Places: places, Disabled: a.config.Skills.Disabled, Cache: filepath.Join(a.paths.Data, "cache"),
		Trust: a.everywhere(), Grants: l, Changed: l.changed,
		Notice: func(text string) { a.board.Say(event.LevelWarn, "%s", text) },
	})
	l.files = skills.NewCommandFiles(places, a.everywhere(), newPersonHost(a))
	a.commands.Sources = append(a.commands.Sources, builtinCommands{}, l.files)
	a.dispatcher.Hooks = append(a.dispatcher.Hooks, touching{l})
	if a.flags.NoSkills {
		return nil
	}
	a.commands.Sources = append(a.commands.Sources, l.skills.Commands(newPersonHost(a)))
	var errs []error
	for _, t := range l.skills.Tools() {
		errs = append(errs, a.registry.Register(tools.OwnerBuiltin, tools.RankBuiltin, t))
	}
	return errors.Join(errs...)
}

func (a *app) skillPlaces() skills.Places {
	return skills.Places{Config: a.paths.Config, Home: a.paths.Home, Folders: a.config.Skills.Folders, Project: a.root, Denied: readDenied(a.gate), Plugins: a.bundles.Skills}
}

// changed tells the person what a reload found.
func (l *learning) changed(c skills.Change) {
	if l.flags.NoSkills {
		return
	}
	level := event.LevelInfo
	if len(c.Broken) > 0 {
		level = event.LevelWarn
	}
	l.board.Say(level, "skills: %s", c)
}

// of returns the instructions of a session.
func (l *learning) of(sessionID string) *sessionInstructions {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.texts[sessionID]
	if t == nil {
		t = &sessionInstructions{set: instructions.New(instructions.Options{
			Config: l.paths.Config, Home: l.paths.Home, Root: l.places.Project, Cwd: l.cwd, Denied: l.places.Denied, Foreign: l.foreign,
		})}
		l.texts[sessionID] = t
	}
	return t
}

// sections returns the parts of a session's system prompt that come from files.
func (l *learning) sections(sessionID string, scope *tools.Scope) []string {
	set := l.of(sessionID).set
	list := []string{set.Prompt()}
	for _, n := range set.Notices() {
		l.board.Say(event.LevelWarn, "%s", n)
	}
	if !l.flags.NoSkills {
		list = append(list, l.skills.Session(sessionID).Prompt(scope))
		l.broken.Do(l.sayBroken)
	}
	l.sayReplaced()
	return list
}

// sayBroken tells the person which skills and commands cannot be used, and why.
func (l *learning) sayBroken() {
	const most = 3
	said := 0
	for _, d := range append(l.skills.Diagnostics(), l.files.Diagnostics()...) {
		if d.Level != skills.Fault {
			continue
		}
		if said++; said <= most {
			l.board.Say(event.LevelWarn, "%s", d)
		}
	}
	if said > most {
		l.board.Say(event.LevelWarn, "%d more skills or commands cannot be used: jcode skills check", said-most)
	}
}

// sayReplaced tells the person once which trusted files of the project replace a name of the person's own or
// of jcode.
func (l *learning) sayReplaced() {
	var now []string
	if !l.flags.NoSkills {
		for _, e := range l.skills.Entries() {
			if e.Replaces != "" {
				now = append(now, fmt.Sprintf("skill %s is this project's (%s) in place of %s", e.Name, e.File, e.Replaces))
			}
		}
	}
	for _, f := range l.files.Files() {
		if f.Replaces != "" {
			now = append(now, fmt.Sprintf("/%s is this project's (%s) in place of %s", f.Name, f.File, f.Replaces))
		}
	}
	now = append(now, l.replaced()...)
	l.mu.Lock()
	now = slices.DeleteFunc(now, func(line string) bool {
		was := l.told[line]
		l.told[line] = true
		return was
	})
	l.mu.Unlock()
	for _, line := range now {
		l.board.Say(event.LevelInfo, "%s", text.Visible(line))
	}
}

// before tells a session what has changed since its last step.
func (l *learning) before(_ context.Context, sessionID string) agent.Announcement {
	var lines, shown []string
	if !l.flags.NoSkills {
		if line := l.skills.Session(sessionID).Changes(); line != "" {
			lines = append(lines, line) // the person was told by changed
		}
	}
	t := l.of(sessionID)
	l.mu.Lock()
	news := t.news
	t.news = nil
	l.mu.Unlock()
	if n, ok := t.set.Changes(); ok {
		news = append(news, n)
	}
	for _, n := range news {
		lines, shown = append(lines, n.Text), append(shown, n.Short)
	}
	for _, n := range t.set.Notices() {
		l.board.Say(event.LevelWarn, "%s", n)
	}
	return agent.Announcement{Text: strings.Join(lines, "\n\n"), Shown: strings.Join(shown, "; "), Silent: shown == nil}
}

// restored tells skills and instructions what a stored history contains.
func (l *learning) restored(sessionID string, rows []session.Message) {
	live, archived := skillsIn(rows)
	l.skills.Session(sessionID).Restore(live, archived)
	l.of(sessionID).set.Rewound()
}

// compacted tells the skills which of them a compaction left in the history.
func (l *learning) compacted(ctx context.Context, sessionID string) {
	rows, err := l.history(ctx, sessionID)
	if err != nil {
		l.board.Say(event.LevelWarn, "skills: %v", err)
		return
	}
	live, _ := skillsIn(rows)
	l.skills.Session(sessionID).Compacted(live)
}

// given tells the skills that a message of the person contains one.
func (l *learning) given(sessionID, skill string) { l.skills.Session(sessionID).Given(skill) }

// skillsIn returns the skills that calls of the model and commands of the person have loaded: those whose
// text is in the history, and those before a summary.
func skillsIn(rows []session.Message) (live, archived []string) {
	add := func(m session.Message, skill string) {
		if m.Archived == 0 {
			live = append(live, skill)
		} else {
			archived = append(archived, skill)
		}
	}
	for _, m := range rows {
		for _, p := range m.Parts {
			if p.Kind == session.PartSkill {
				add(m, p.Text)
			}
		}
		for _, c := range m.Calls {
			var args struct {
				Name string `json:"name"`
			}
			if c.Name == "skill" && c.Status == session.StatusDone && json.Unmarshal([]byte(c.Arguments), &args) == nil && args.Name != "" {
				add(m, args.Name)
			}
		}
	}
	return live, archived
}

// Allow implements skills.Grants: the rules hold until the turn ends.
func (l *learning) Allow(sessionID string, _ int, source string, rules []string) {
	release, err := l.allow(sessionID, rules)
	if err != nil {
		l.board.Say(event.LevelWarn, "%s: %v", source, err)
		return
	}
	l.mu.Lock()
	l.releases = append(l.releases, release)
	l.mu.Unlock()
}

// turnEnded ends the rules that held for the turn.
func (l *learning) turnEnded() {
	l.mu.Lock()
	releases := l.releases
	l.releases = nil
	l.mu.Unlock()
	for _, release := range releases {
		release()
	}
}

// touching adds the instructions of a folder to a session, at its next step, when a call of the
// session touches the folder for the first time.
type touching struct{ l *learning }

// BeforeCall implements tools.Hook and changes nothing.
func (touching) BeforeCall(context.Context, tools.Call) tools.Verdict { return tools.Verdict{} }

// AfterCall implements tools.Hook.
func (t touching) AfterCall(call tools.Call, out tools.Outcome) {
	if !out.Ran || call.Caller.Session == "" {
		return
	}
	texts := t.l.of(call.Caller.Session)
	for _, access := range call.Plan.Accesses {
		if access.Path == "" {
			continue
		}
		if news, ok := texts.set.Touch(access.Path); ok {
			t.l.mu.Lock()
			texts.news = append(texts.news, news)
			t.l.mu.Unlock()
		}
	}
}

// everywhere returns the trust in files of the project and of the person.
func (a *app) everywhere() tools.Trust {
	return bothTrusts{project: a.trust, person: ofPerson(a)}
}

// ofPerson returns the trust in files of the person's own.
func ofPerson(a *app) *permission.Trust {
	return permission.NewTrust("", trustRows{a.store.Trusts(), ""}, a.flags.Trust)
}

// bothTrusts records approvals of the project's files with the project, those of the person's
// own for everywhere. It implements tools.Trust.
type bothTrusts struct{ project, person tools.Trust }

func (t bothTrusts) of(item tools.TrustItem) tools.Trust {
	if item.Personal {
		return t.person
	}
	return t.project
}

// Trusted implements tools.Trust.
func (t bothTrusts) Trusted(ctx context.Context, item tools.TrustItem) (bool, error) {
	return t.of(item).Trusted(ctx, item)
}

// Unconfined implements tools.Trust.
func (t bothTrusts) Unconfined(ctx context.Context, item tools.TrustItem) bool {
	return t.of(item).Unconfined(ctx, item)
}

// Accept implements tools.Trust.
func (t bothTrusts) Accept(ctx context.Context, items []tools.TrustItem, keep bool) error {
	for _, item := range items {
		if err := t.of(item).Accept(ctx, []tools.TrustItem{item}, keep); err != nil {
			return err
		}
	}
	return nil
}

// builtinCommands are the commands that are prompts of jcode's own.
type builtinCommands struct{}

// List implements command.Source.
func (builtinCommands) List() []command.Command { return []command.Command{instructions.Init()} }
