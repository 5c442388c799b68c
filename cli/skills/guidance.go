package skillscli

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"jcode/agent"
	"jcode/agent/event"
	"jcode/cli/board"
	"jcode/internal/text"
	"jcode/session"
	"jcode/skills"
	"jcode/skills/instructions"
	"jcode/tools"
	"jcode/tools/command"
)

// Options are what the guidance of files needs.
type Options struct {
	// Files is where skills and command files are, which count, and where what is known of them is kept.
	Files skills.Options
	Host  skills.Host // carries commands out
	Board *board.Board
	// Home is the person's home, Cwd the working folder, Settings the person's configuration file.
	Home, Cwd, Settings string
	NoSkills            bool // skills are switched off
	Once                bool // a single run watches nothing
	History             func(ctx context.Context, sessionID string) ([]session.Message, error)
	Replaced            func() []string // roles whose name the project has taken over
	OnClose             func(func())
	// Allow puts rules in force for a session, until the returned function is called.
	Allow func(sessionID string, rules []string) (func(), error)
	// Foreign returns whose a file is if it belongs to another user and does not count; nil if all count.
	Foreign func(path string) string
}

// Guidance is what files tell the agent in this folder: skills, command files, and instructions for each conversation.
type Guidance struct {
	opts  Options
	board *board.Board

	skills *skills.Registry
	files  *skills.CommandFiles

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

// New does not look for files: that happens when the first prompt is built, or the first command is looked up.
func New(o Options) *Guidance {
	l := &Guidance{opts: o, board: o.Board, texts: map[string]*sessionInstructions{}, told: map[string]bool{}}
	files := o.Files
	files.Grants, files.Changed = l, l.changed
	files.Notice = func(text string) { l.board.Say(event.LevelWarn, "%s", text) }
	l.skills = skills.New(files)
	l.files = skills.NewCommandFiles(files.Places, files.Trust, o.Host)
	return l
}

// Tools returns the tools that load skills.
func (l *Guidance) Tools() []tools.Tool {
	if l.opts.NoSkills {
		return nil
	}
	return l.skills.Tools()
}

// Commands returns the slash commands of jcode's own prompts, of command files and of skills.
func (l *Guidance) Commands() []command.Source {
	list := []command.Source{BuiltinCommands{}, l.files}
	if l.opts.NoSkills {
		return list
	}
	return append(list, l.skills.Commands(l.opts.Host))
}

// Hook returns what adds the instructions of folders that calls touch.
func (l *Guidance) Hook() tools.Hook { return touching{l} }

// Reload reads all skills and command files again, and says what became of them.
func (l *Guidance) Reload() string {
	change := l.skills.Reload()
	files := l.files.Reload()
	notice := l.skills.Report(change, nil)
	if !files.Empty() {
		notice += "\ncommands: " + files.String()
	}
	return strings.TrimSpace(notice)
}

// Registry returns the skills.
func (l *Guidance) Registry() *skills.Registry { return l.skills }

// changed tells the person what a reload found.
func (l *Guidance) changed(c skills.Change) {
	if l.opts.NoSkills {
		return
	}
	level := event.LevelInfo
	if len(c.Broken) > 0 {
		level = event.LevelWarn
	}
	l.board.Say(level, "skills: %s", c)
}

// of returns the instructions of a session.
func (l *Guidance) of(sessionID string) *sessionInstructions {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.texts[sessionID]
	if t == nil {
		t = &sessionInstructions{set: instructions.New(instructions.Options{
			Config: l.opts.Files.Places.Config, Home: l.opts.Home, Root: l.opts.Files.Places.Project, Cwd: l.opts.Cwd, Denied: l.opts.Files.Places.Denied, Foreign: l.opts.Foreign,
		})}
		l.texts[sessionID] = t
	}
	return t
}

// sections returns the parts of a session's system prompt that come from files.
func (l *Guidance) sections(sessionID string, scope *tools.Scope) []string {
	set := l.of(sessionID).set
	list := []string{set.Prompt()}
	for _, n := range set.Notices() {
		l.board.Say(event.LevelWarn, "%s", n)
	}
	if !l.opts.NoSkills {
		list = append(list, l.skills.Session(sessionID).Prompt(scope))
		l.broken.Do(l.sayBroken)
	}
	l.sayReplaced()
	return list
}

// sayBroken tells the person which skills and commands cannot be used, and why.
func (l *Guidance) sayBroken() {
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
func (l *Guidance) sayReplaced() {
	var now []string
	if !l.opts.NoSkills {
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
	now = append(now, l.opts.Replaced()...)
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
func (l *Guidance) before(_ context.Context, sessionID string) agent.Announcement {
	var lines, shown []string
	if !l.opts.NoSkills {
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
func (l *Guidance) restored(sessionID string, rows []session.Message) {
	live, archived := skillsIn(rows)
	l.skills.Session(sessionID).Restore(live, archived)
	l.of(sessionID).set.Rewound()
}

// compacted tells the skills which of them a compaction left in the history.
func (l *Guidance) compacted(ctx context.Context, sessionID string) {
	rows, err := l.opts.History(ctx, sessionID)
	if err != nil {
		l.board.Say(event.LevelWarn, "skills: %v", err)
		return
	}
	live, _ := skillsIn(rows)
	l.skills.Session(sessionID).Compacted(live)
}

// given tells the skills that a message of the person contains one.
func (l *Guidance) given(sessionID, skill string) { l.skills.Session(sessionID).Given(skill) }

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
func (l *Guidance) Allow(sessionID string, _ int, source string, rules []string) {
	release, err := l.opts.Allow(sessionID, rules)
	if err != nil {
		l.board.Say(event.LevelWarn, "%s: %v", source, err)
		return
	}
	l.mu.Lock()
	l.releases = append(l.releases, release)
	l.mu.Unlock()
}

// turnEnded ends the rules that held for the turn.
func (l *Guidance) turnEnded() {
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
type touching struct{ l *Guidance }

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

// BuiltinCommands are the commands that are prompts of jcode's own.
type BuiltinCommands struct{}

// List implements command.Source.
func (BuiltinCommands) List() []command.Command { return []command.Command{instructions.Init()} }
