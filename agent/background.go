package agent

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
	"jcode/internal/text"
	"jcode/session"
	"jcode/tools"
)

// agentWait limits one wait for sub-agents.
const agentWait = 10 * time.Minute

// agents holds the background sub-agents of a conversation. They outlive the turn that started them, and end
// with the conversation.
type agents struct {
	c    *Conversation
	all  *roster.Roster[worker] // of the whole conversation tree
	work sync.WaitGroup
	// moves is held while an agent of this conversation gets a message or loses its worktree.
	moves sync.Mutex
	// claimed reports whether the conversation holds a claim.
	claimed atomic.Bool
}

// worker is the handle of a sub-agent.
type worker struct {
	child *Conversation // nil when an earlier run left it behind, or its worktree was removed
	site  Site          // nil without isolation
	moved bool          // its worktree was removed: a message starts it again in a new one
}

type member = roster.Member[worker]

// newAgents returns the agents of a conversation. A sub-agent shares the roster of its tree.
func newAgents(c *Conversation) *agents {
	a := &agents{c: c, all: c.opt.tree}
	if a.all == nil {
		a.all = roster.New[worker](c.opt.MaxAgents, func(s roster.State) { c.emit(event.AgentChanged{Agent: s}) })
	}
	return a
}

// own returns this conversation's agent with the given name.
func (a *agents) own(name string) (*member, error) { return a.all.Find(a.c.ID(), name) }

// start runs an agent on a prompt in the background.
func (a *agents) start(ctx context.Context, call tools.Call, task tools.Task) (tools.Result, error) {
	m, err := a.all.Enter(a.c.ID(), task.Name, task.Role)
	if err != nil {
		return tools.Result{}, err
	}
	state, _ := a.all.Get(m)
	task.Name = state.Name
	child, site, err := a.c.newChild(ctx, task, &asksFor{a, m})
	if err != nil {
		a.all.Leave(m)
		return tools.Result{}, err
	}
	a.all.Change(m, func(s *roster.State, w *worker) {
		st := child.State()
		*w = worker{child: child, site: site}
		s.Model, s.Role, s.Session = st.Model, st.Role, child.opt.Session
		if site != nil {
			s.Dir = site.Dir()
		}
		state = *s
	})
	if err := a.keep(ctx, m); err != nil {
		a.all.Leave(m)
		child.Close()
		return tools.Result{}, errors.Join(err, removeSite(ctx, site))
	}
	a.follow(m, child, call.ID, event.Prompt{Text: task.Prompt})
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
func (a *agents) foreground(ctx context.Context, started tools.Result) (tools.Result, error) {
	data, _ := started.Data.(map[string]any)
	name, _ := data["name"].(string)
	stop := context.AfterFunc(ctx, func() { _ = a.c.StopAgent(name) }) // the agent exists
	defer stop()
	a.wait(context.WithoutCancel(ctx), name, false)
	m, err := a.own(name)
	if err != nil {
		return tools.Result{}, err
	}
	state, _ := a.all.Get(m)
	a.all.Withdraw(m)
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
func (a *agents) keep(ctx context.Context, m *member) error {
	state, w := a.all.Get(m)
	row := session.Agent{
		Session: state.Session, Parent: state.Parent, Project: a.c.opt.Project, Name: state.Name,
		Role: state.Role, Model: state.Model, State: string(state.Status),
	}
	if w.site != nil {
		row.Dir, row.Branch, row.Base = w.site.Row()
	}
	return a.c.opt.Store.Agents().Save(context.WithoutCancel(ctx), row)
}

// follow sends a prompt to an agent and watches it until its turn ends.
func (a *agents) follow(m *member, child *Conversation, callID string, p event.Prompt) {
	sub := child.Subscribe()
	state, _ := a.all.Get(m)
	a.work.Go(func() {
		defer sub.Close()
		for {
			ev, ok := sub.Next(context.Background()) // ends with the child, which Close closes
			if !ok {
				a.all.Change(m, func(s *roster.State, _ *worker) {
					if s.Running() {
						s.Status, s.Ended = roster.Stopped, time.Now()
					}
				})
				return
			}
			a.c.emit(event.Nested{CallID: callID, Session: state.Session, Label: state.Name, Agent: state.Name, Dir: state.Dir, Event: ev})
			a.saw(m, ev)
		}
	})
	child.Prompt(p)
}

// saw updates an agent's state from an event.
func (a *agents) saw(m *member, ev event.Event) {
	switch ev := ev.(type) {
	case event.AssistantMessage:
		a.all.Wrote(m, ev.Text)
		a.all.Change(m, func(*roster.State, *worker) {})
	case event.CallStart:
		what := doing(ev.Name, ev.Arguments)
		a.all.Wrote(m, "→ "+what)
		a.all.Change(m, func(s *roster.State, _ *worker) { s.Call, s.Doing = ev.Name, what })
	case event.CallEnd:
		if d := ev.Result.Display; d.ChangedBy != "" {
			a.all.Wrote(m, "→ "+doing(ev.Name, d.RanWith(nil))+" (changed by "+d.ChangedBy+")")
		}
		a.all.Change(m, func(s *roster.State, _ *worker) { s.Call, s.Doing = "", "" })
	case event.Notice:
		a.all.Wrote(m, "! "+ev.Text)
	case event.Usage:
		a.all.Change(m, func(s *roster.State, _ *worker) {
			s.Tokens, s.Cost, s.Estimated = ev.Total.Input+ev.Total.Output, ev.Cost, ev.Total.Estimated
		})
	case event.TurnStart:
		a.all.Wrote(m, "› "+ev.Prompt)
		a.all.Change(m, func(s *roster.State, _ *worker) {
			if s.Ended = (time.Time{}); s.Status != roster.Waiting { // the event may arrive after its first question
				s.Status = roster.Working
			}
		})
	case event.TurnEnd:
		a.ended(m, ev)
	}
}

// AgentStatus returns the state of an agent whose turn ended for a reason.
func AgentStatus(r event.StopReason) roster.Status {
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
func (a *agents) ended(m *member, end event.TurnEnd) {
	status, answer := AgentStatus(end.Reason), strings.TrimSpace(end.Text)
	if status == roster.Failed {
		answer = strings.TrimSpace(end.Error + "\n" + answer)
	}
	state, w := a.all.Get(m)
	changed, note := leaveSite(w.site, state.Name, status)
	if status != roster.Stopped {
		a.all.Announce(m, fmt.Sprintf("The agent %s ended (%s).%s Its answer:\n%s", state.Name, status, note, answer))
	}
	level := event.LevelInfo
	if status == roster.Failed {
		level = event.LevelWarn
	}
	said := ""
	if answer != "" {
		said = ": " + text.Truncate(text.OneLine(answer), 200, "…")
	}
	// Before who waits for it goes on, and may end the program.
	a.c.Notify(level, "agent %s %s%s%s", state.Name, status, said, note)
	a.all.Change(m, func(s *roster.State, _ *worker) {
		s.Status, s.Ended, s.Call, s.Doing, s.Answer, s.Changed = status, time.Now(), "", "", answer, changed
	})
	a.c.write("store agent", func(ctx context.Context) error {
		return a.c.opt.Store.Agents().SetState(ctx, state.Session, string(status))
	})
	if w.site != nil && !changed && status == roster.Done {
		a.work.Go(func() { // it ends the goroutine that runs this
			a.c.write("remove the worktree of "+state.Name, func(ctx context.Context) error { return a.removed(ctx, m) })
		})
	}
}

// leaveSite reports what an agent left in its worktree.
func leaveSite(site Site, name string, status roster.Status) (changed bool, note string) {
	if site == nil {
		return false, ""
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	diff, left, err := site.Diff(ctx)
	switch {
	case err != nil:
		return true, fmt.Sprintf(" What it changed in %s can't be read: %v.", site.Dir(), err)
	case diff == "" && len(left) > 0:
		return true, fmt.Sprintf(" What it made in %s can't be merged: %s. The worktree stays: copy what is needed from there, then discard it (agent %s).", site.Dir(), strings.Join(left, ", "), name)
	case diff == "" && status == roster.Done:
		return false, " It changed no file."
	case diff == "":
		return false, ""
	}
	files := strings.Count("\n"+diff, "\ndiff --git ")
	if len(left) > 0 {
		return true, fmt.Sprintf(" It changed %s in its worktree: merge or discard them (agent %s). Not merged, only in %s: %s.", text.Count(files, "file"), name, site.Dir(), strings.Join(left, ", "))
	}
	return true, fmt.Sprintf(" It changed %s in its worktree: merge or discard them (agent %s).", text.Count(files, "file"), name)
}

// takeNews returns what the model must be told about agents, once.
func (a *agents) takeNews() string { return a.all.News(a.c.ID()) }

// unfinished reports whether an agent is still working or its end has not been reported yet.
func (a *agents) unfinished() bool { return a.all.Unfinished(a.c.ID()) }

// wait waits until the named agent, or every agent, has ended; with first, until one has. It returns when ctx
// ends or the limit is reached.
func (a *agents) wait(ctx context.Context, name string, first bool) {
	ctx, cancel := context.WithTimeout(ctx, agentWait)
	defer cancel()
	a.all.Wait(ctx, a.c.ID(), name, first)
}

// close ends all agents of this conversation; their worktrees stay.
func (a *agents) close() {
	id := a.c.ID()
	if id == "" {
		return // none was ever started
	}
	var sites []Site
	var ends sync.WaitGroup
	for _, m := range a.all.Members(id) {
		_, w := a.all.Get(m)
		if w.child != nil {
			ends.Go(w.child.Close)
		}
		if w.site != nil {
			sites = append(sites, w.site)
		}
	}
	ends.Wait()
	a.work.Wait()
	for _, s := range sites {
		s.Close()
	}
}
