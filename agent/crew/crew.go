package crew

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"jcode/agent/event"
	"jcode/agent/roster"
	"jcode/internal/diff"
	"jcode/internal/text"
	"jcode/session"
	"jcode/tools"
)

// agentWait limits one wait for sub-agents.
const agentWait = 10 * time.Minute

// Crew are the sub-agents of one conversation. Those in the background outlive the turn that started them, and
// end with the conversation. All methods are safe for concurrent use.
type Crew struct {
	host  Host
	opt   Options
	above *Crew                  // of the conversation that this one works for; nil for a person's own
	life  context.Context        // of the conversation
	all   *roster.Roster[worker] // of the whole conversation tree
	work  sync.WaitGroup
	// moves is held while an agent of this conversation gets a message or loses its worktree.
	moves sync.Mutex
	// claimed reports whether the conversation holds a claim.
	claimed atomic.Bool
}

// worker is the handle of a sub-agent.
type worker struct {
	child Child // nil when an earlier run left it behind, or its worktree was removed
	site  Site  // nil without isolation
	moved bool  // its worktree was removed: a message starts it again in a new one
}

type member = roster.Member[worker]

// New returns the agents of a conversation, which ends with life. A sub-agent's own share the roster of the
// crew above.
func New(life context.Context, host Host, opt Options, above *Crew) *Crew {
	c := &Crew{host: host, opt: opt, above: above, life: life}
	if above != nil {
		c.all = above.all
	} else {
		c.all = roster.New[worker](opt.Most, func(s roster.State) { host.Emit(event.AgentChanged{Agent: s}) })
	}
	return c
}

// depth counts the conversations above this one.
func (c *Crew) depth() (n int) {
	for c = c.above; c != nil; c = c.above {
		n++
	}
	return n
}

// top returns the crew of the conversation that the person is in.
func (c *Crew) top() *Crew {
	for c.above != nil {
		c = c.above
	}
	return c
}

// notify shows the person a one-line notice.
func (c *Crew) notify(level event.Level, format string, args ...any) {
	c.host.Emit(event.Notice{Level: level, Text: fmt.Sprintf(format, args...)})
}

// own returns this conversation's agent with the given name.
func (c *Crew) own(name string) (*member, error) { return c.all.Find(c.host.ID(), name) }

// start runs an agent on a prompt in the background.
func (c *Crew) start(ctx context.Context, call tools.Call, task tools.Task) (tools.Result, error) {
	m, err := c.all.Enter(c.host.ID(), task.Name, task.Role)
	if err != nil {
		return tools.Result{}, err
	}
	state, _ := c.all.Get(m)
	task.Name = state.Name
	opened, err := c.host.Open(ctx, task, &asks{to: c.top().host, crew: c, member: m})
	if err != nil {
		c.all.Leave(m)
		return tools.Result{}, err
	}
	child, site := opened.Child, opened.Site
	c.all.Change(m, func(s *roster.State, w *worker) {
		st := child.State()
		*w = worker{child: child, site: site}
		s.Model, s.Role, s.Session = st.Model, st.Role, opened.Session
		if site != nil {
			s.Dir = site.Dir()
		}
		state = *s
	})
	if err := c.keep(ctx, m); err != nil {
		c.all.Leave(m)
		child.Close()
		return tools.Result{}, errors.Join(err, RemoveSite(ctx, site))
	}
	c.follow(m, child, call.ID, event.Prompt{Text: task.Prompt})
	where := ""
	if site != nil {
		where = ", in its own worktree " + site.Dir()
	}
	return tools.Result{
		Text:    fmt.Sprintf("The agent %s works in the background%s. Its end will be announced; the tool agent lists, messages, waits for and stops it.", state.Name, where),
		Display: tools.Display{Child: state.Session, Summary: "agent " + state.Name + " started"},
		Data:    map[string]any{"name": state.Name, "session": state.Session, "worktree": state.Dir},
	}, nil
}

// foreground waits for an agent whose call returns its answer.
func (c *Crew) foreground(ctx context.Context, started tools.Result) (tools.Result, error) {
	data, _ := started.Data.(map[string]any)
	name, _ := data["name"].(string)
	stop := context.AfterFunc(ctx, func() { _ = c.Stop(context.WithoutCancel(ctx), name) }) // the agent exists
	defer stop()
	c.Wait(context.WithoutCancel(ctx), name, false)
	m, err := c.own(name)
	if err != nil {
		return tools.Result{}, err
	}
	state, _ := c.all.Get(m)
	c.all.Withdraw(m)
	switch {
	case ctx.Err() != nil:
		return tools.Result{Display: started.Display}, ctx.Err()
	case state.Status != roster.Done:
		return tools.Result{Text: "the sub-agent stopped: " + state.Answer, Failed: true, Kind: tools.KindLimit, Display: started.Display}, nil
	}
	said := state.Answer
	if state.Changed {
		said += fmt.Sprintf("\n\n[jcode] Its changes are in the worktree %s: agent action=merge name=%s takes them over.", state.Dir, name)
	}
	return tools.Result{Text: said, Display: started.Display, Data: data}, nil
}

// keep records an agent in the store, so that it can be found after a crash.
func (c *Crew) keep(ctx context.Context, m *member) error {
	state, w := c.all.Get(m)
	row := session.Agent{
		Session: state.Session, Parent: state.Parent, Project: c.opt.Project, Name: state.Name,
		Role: state.Role, Model: state.Model, State: string(state.Status),
	}
	if w.site != nil {
		row.Dir, row.Branch, row.Base = w.site.Row()
	}
	return c.opt.Store.Agents().Save(context.WithoutCancel(ctx), row)
}

// follow sends a prompt to an agent and watches it until its turn ends.
func (c *Crew) follow(m *member, child Child, callID string, p event.Prompt) {
	sub := child.Subscribe()
	state, _ := c.all.Get(m)
	c.work.Go(func() {
		defer sub.Close()
		for {
			ev, ok := sub.Next(context.Background()) // ends with the child, which Close closes
			if !ok {
				c.all.Change(m, func(s *roster.State, _ *worker) {
					if s.Running() {
						s.Status, s.Ended = roster.Stopped, time.Now()
					}
				})
				return
			}
			c.host.Emit(event.Nested{CallID: callID, Session: state.Session, Label: state.Name, Agent: state.Name, Dir: state.Dir, Event: ev})
			c.saw(m, ev)
		}
	})
	child.Prompt(p)
}

// saw updates an agent's state from an event.
func (c *Crew) saw(m *member, ev event.Event) {
	switch ev := ev.(type) {
	case event.AssistantMessage:
		c.all.Wrote(m, ev.Text)
		c.all.Change(m, func(*roster.State, *worker) {})
	case event.CallStart:
		what := doing(ev.Name, ev.Arguments)
		c.all.Wrote(m, "→ "+what)
		c.all.Change(m, func(s *roster.State, _ *worker) { s.Call, s.Doing = ev.Name, what })
	case event.CallEnd:
		if d := ev.Result.Display; d.ChangedBy != "" {
			c.all.Wrote(m, "→ "+doing(ev.Name, d.RanWith(nil))+" (changed by "+d.ChangedBy+")")
		}
		c.all.Change(m, func(s *roster.State, _ *worker) { s.Call, s.Doing = "", "" })
	case event.Notice:
		c.all.Wrote(m, "! "+ev.Text)
	case event.Usage:
		c.all.Change(m, func(s *roster.State, _ *worker) {
			s.Tokens, s.Cost, s.Estimated = ev.Total.Input+ev.Total.Output, ev.Cost, ev.Total.Estimated
		})
	case event.TurnStart:
		c.all.Wrote(m, "› "+ev.Prompt)
		c.all.Change(m, func(s *roster.State, _ *worker) {
			if s.Ended = (time.Time{}); s.Status != roster.Waiting { // the event may arrive after its first question
				s.Status = roster.Working
			}
		})
	case event.TurnEnd:
		c.ended(m, ev)
	}
}

// Status returns the state of an agent whose turn ended for a reason.
func Status(r event.StopReason) roster.Status {
	switch r {
	case event.StopError, event.StopLimit:
		return roster.Failed
	case event.StopInterrupted:
		return roster.Stopped
	case event.StopDone:
	}
	return roster.Done
}

// ended announces the end of an agent's turn, and removes an unchanged worktree.
func (c *Crew) ended(m *member, end event.TurnEnd) {
	status, answer := Status(end.Reason), strings.TrimSpace(end.Text)
	if status == roster.Failed {
		answer = strings.TrimSpace(end.Error + "\n" + answer)
	}
	state, w := c.all.Get(m)
	changed, unified, note := leaveSite(w.site, state.Name, status)
	if status != roster.Stopped {
		c.all.Announce(m, fmt.Sprintf("The agent %s ended (%s).%s Its answer:\n%s", state.Name, status, note, answer))
	}
	level := event.LevelInfo
	if status == roster.Failed {
		level = event.LevelWarn
	}
	said := ""
	if answer != "" {
		said = ": " + text.Truncate(text.Prose(answer), 200, "…")
	}
	// Before who waits for it goes on, and may end the program.
	c.notify(level, "agent %s %s%s%s", state.Name, status, said, note)
	c.all.Change(m, func(s *roster.State, _ *worker) {
		s.Status, s.Ended, s.Call, s.Doing, s.Answer, s.Changed = status, time.Now(), "", "", answer, changed
		count(s, unified)
	})
	c.host.Write("store agent", func(ctx context.Context) error {
		return c.opt.Store.Agents().SetState(ctx, state.Session, string(status))
	})
	if w.site != nil && !changed && status == roster.Done {
		c.work.Go(func() { // it ends the goroutine that runs this
			c.host.Write("remove the worktree of "+state.Name, func(ctx context.Context) error { return c.removed(ctx, m) })
		})
	}
}

// leaveSite reports what an agent left in its worktree.
func leaveSite(site Site, name string, status roster.Status) (changed bool, diff, note string) {
	if site == nil {
		return false, "", ""
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	unified, left, err := site.Diff(ctx)
	switch {
	case err != nil:
		return true, "", fmt.Sprintf(" What it changed in %s can't be read: %v.", site.Dir(), err)
	case unified == "" && len(left) > 0:
		return true, "", fmt.Sprintf(" What it made in %s can't be merged: %s. The worktree stays: copy what is needed from there, then discard it (agent %s).", site.Dir(), strings.Join(left, ", "), name)
	case unified == "" && status == roster.Done:
		return false, "", " It changed no file."
	case unified == "":
		return false, "", ""
	}
	files := changedFiles(unified)
	if len(left) > 0 {
		return true, unified, fmt.Sprintf(" It changed %s in its worktree: merge or discard them (agent %s). Not merged, only in %s: %s.", text.Count(files, "file"), name, site.Dir(), strings.Join(left, ", "))
	}
	return true, unified, fmt.Sprintf(" It changed %s in its worktree: merge or discard them (agent %s).", text.Count(files, "file"), name)
}

// changedFiles counts the files of a diff as git writes it.
func changedFiles(unified string) int { return strings.Count("\n"+unified, "\ndiff --git ") }

// count records how much there is to merge.
func count(s *roster.State, unified string) {
	s.Files, s.Added, s.Removed = changedFiles(unified), 0, 0
	for _, part := range diff.Parts(unified) {
		s.Added += part.Added
		s.Removed += part.Removed
	}
}

// News returns what the model must be told about agents, once.
func (c *Crew) News() string { return c.all.News(c.host.ID()) }

// Unfinished reports whether an agent is still working or its end has not been reported yet.
func (c *Crew) Unfinished() bool { return c.all.Unfinished(c.host.ID()) }

// Wait waits until the named agent, or every agent, has ended; with first, until one has. It returns when ctx
// ends or the limit is reached.
func (c *Crew) Wait(ctx context.Context, name string, first bool) {
	ctx, cancel := context.WithTimeout(ctx, agentWait)
	defer cancel()
	c.all.Wait(ctx, c.host.ID(), name, first)
}

// Close ends all agents of this conversation; their worktrees stay.
func (c *Crew) Close() {
	id := c.host.ID()
	if id == "" {
		return // none was ever started
	}
	var sites []Site
	var ends sync.WaitGroup
	for _, m := range c.all.Members(id) {
		_, w := c.all.Get(m)
		if w.child != nil {
			ends.Go(w.child.Close)
		}
		if w.site != nil {
			sites = append(sites, w.site)
		}
	}
	ends.Wait()
	c.work.Wait()
	for _, s := range sites {
		s.Close()
	}
}
