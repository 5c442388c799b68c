package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"jcode/internal/text"
	"jcode/session"
	"jcode/tools"
)

const (
	// maxAgents is how many sub-agents work in the background at once where nothing else is set.
	maxAgents = 8
	// agentWait is the limit of one wait for sub-agents.
	agentWait = 10 * time.Minute
	// keptOutput is how much of what an agent did is kept for a look at it, in bytes.
	keptOutput = 64 << 10
)

// AgentStatus says how a sub-agent in the background stands.
type AgentStatus string

// The states.
const (
	AgentWorking AgentStatus = "working"
	AgentWaiting AgentStatus = "waiting" // for the person
	AgentDone    AgentStatus = "done"
	AgentFailed  AgentStatus = "failed"
	AgentStopped AgentStatus = "stopped"
	// AgentLeft is one that a program left behind that ended while it worked.
	AgentLeft AgentStatus = "left"
)

// AgentState is a sub-agent in the background as others see it.
type AgentState struct {
	Name    string
	Session string
	Role    string
	Model   string
	Status  AgentStatus
	// Call is what it does at the moment.
	Call    string
	Tokens  int
	Cost    float64
	Started time.Time
	Ended   time.Time
	// Answer is its last answer, or why it failed.
	Answer string
	// Dir is the worktree in which it works, "" for the conversation's own folder. Changed says
	// that the worktree has changes which were not merged.
	Dir     string
	Changed bool
}

// Running reports whether the agent works or waits for an answer.
func (s AgentState) Running() bool { return s.Status == AgentWorking || s.Status == AgentWaiting }

// Site is a copy of the files in which one sub-agent works, with tools that see nothing else.
type Site interface {
	// Equip makes a conversation's options those of the site.
	Equip(opt *Options)
	// Begin is told of the conversation that works there, before its first prompt.
	Begin(child *Conversation)
	// Dir is the site's folder.
	Dir() string
	// Row is what must be kept to open the site again.
	Row() (dir, branch, base string)
	// Diff returns what was changed there as a unified diff; "" is nothing.
	Diff(ctx context.Context) (string, error)
	// Plan says what a merge would change, and Merge carries it out as one change of the call:
	// all of it or nothing.
	Plan(ctx context.Context) (tools.Plan, error)
	Merge(ctx context.Context, call tools.Call) (string, error)
	// Close ends the tools; the copy stays. Remove deletes it, whatever is in it.
	Close()
	Remove(ctx context.Context) error
}

// agents are the sub-agents that go on beside a conversation. They outlive the turn that
// started them, and end with the conversation.
type agents struct {
	c    *Conversation
	mu   sync.Mutex
	list []*helper
	news []string      // for the model at its next step
	tick chan struct{} // closed and replaced at each change
	work sync.WaitGroup
}

// helper is one of them.
type helper struct {
	state AgentState
	child *Conversation // nil when it is left behind
	site  Site          // nil without isolation
	out   string        // what it did, the end of it
	seen  int           // bytes of out that were looked at; negative counts what was dropped
	told  bool          // its end is in the news, or was returned
}

func newAgents(c *Conversation) *agents { return &agents{c: c, tick: make(chan struct{})} }

// Agents lists the sub-agents in the background, in the order of their start.
func (c *Conversation) Agents() []AgentState {
	c.agents.mu.Lock()
	defer c.agents.mu.Unlock()
	out := make([]AgentState, len(c.agents.list))
	for i, h := range c.agents.list {
		out[i] = h.state
	}
	return out
}

// change applies f to a helper, wakes who waits, and tells the subscribers.
func (a *agents) change(h *helper, f func()) {
	a.mu.Lock()
	f()
	state := h.state
	close(a.tick)
	a.tick = make(chan struct{})
	a.mu.Unlock()
	a.c.emit(AgentChanged{Agent: state})
}

func (a *agents) find(name string) (*helper, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	var names []string
	for _, h := range a.list {
		if h.state.Name == name {
			return h, nil
		}
		names = append(names, h.state.Name)
	}
	if names == nil {
		return nil, tools.Errorf(tools.KindInvalidArgs, "there is no agent: task with background starts one")
	}
	return nil, tools.Errorf(tools.KindInvalidArgs, "there is no agent %q; there are: %s", name, strings.Join(names, ", "))
}

// reserve takes a place and a name for a new agent.
func (a *agents) reserve(name, role string) (*helper, error) {
	most := a.c.opt.MaxAgents
	if most <= 0 {
		most = maxAgents
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	running := 0
	taken := map[string]bool{}
	for _, h := range a.list {
		taken[h.state.Name] = true
		if h.state.Running() {
			running++
		}
	}
	if running >= most {
		return nil, tools.Errorf(tools.KindLimit, "%d agents are working, which is the most at once: wait for one, or stop one", running)
	}
	base := agentName(name)
	if base == "" {
		base = agentName(role)
	}
	if base == "" {
		base = "agent"
	}
	free := base
	for n := 2; taken[free]; n++ {
		free = fmt.Sprintf("%s-%d", base, n)
	}
	h := &helper{state: AgentState{Name: free, Role: role, Status: AgentWorking, Started: time.Now()}}
	a.list = append(a.list, h)
	return h, nil
}

// drop takes back what reserve took.
func (a *agents) drop(h *helper) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.list = slices.DeleteFunc(a.list, func(x *helper) bool { return x == h })
}

// agentName makes a name of lower-case letters, digits and hyphens.
func agentName(s string) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '-'
	}, text.Cut(s, 40))
	return strings.Trim(name, "-")
}

// start lets an agent work on a prompt in the background.
func (a *agents) start(ctx context.Context, call tools.Call, task tools.Task) (tools.Result, error) {
	h, err := a.reserve(task.Name, task.Role)
	if err != nil {
		return tools.Result{}, err
	}
	task.Name = h.state.Name
	child, site, err := a.c.newChild(ctx, task, &asksFor{a, h})
	if err != nil {
		a.drop(h)
		return tools.Result{}, err
	}
	h.child, h.site = child, site
	a.change(h, func() {
		st := child.State()
		h.state.Model, h.state.Role, h.state.Session = st.Model, st.Role, child.opt.Session
		if site != nil {
			h.state.Dir = site.Dir()
		}
	})
	if err := a.keep(ctx, h); err != nil {
		a.drop(h)
		child.Close()
		return tools.Result{}, errors.Join(err, removeSite(ctx, site))
	}
	a.follow(h, call.ID, Prompt{Text: task.Prompt})
	where := ""
	if site != nil {
		where = ", in its own worktree " + site.Dir()
	}
	return tools.Result{
		Text:    fmt.Sprintf("The agent %s works in the background%s. Its end will be announced; the tool agent lists, messages, waits for and stops it.", h.state.Name, where),
		Display: tools.Display{Child: h.state.Session, Summary: "agent " + h.state.Name + " started"},
		Data:    map[string]any{"name": h.state.Name, "session": h.state.Session, "worktree": h.state.Dir},
	}, nil
}

// foreground waits for an agent that was started for a call which is to have its answer.
func (a *agents) foreground(ctx context.Context, started tools.Result) (tools.Result, error) {
	data, _ := started.Data.(map[string]any)
	name, _ := data["name"].(string)
	stop := context.AfterFunc(ctx, func() { _ = a.c.StopAgent(name) }) // it is there
	defer stop()
	a.wait(context.WithoutCancel(ctx), name, false)
	h, err := a.find(name)
	if err != nil {
		return tools.Result{}, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	state := h.state
	a.news = slices.DeleteFunc(a.news, func(s string) bool { return strings.HasPrefix(s, "The agent "+name+" ended") })
	h.told = true
	switch {
	case ctx.Err() != nil:
		return tools.Result{Display: started.Display}, ctx.Err()
	case state.Status != AgentDone:
		return tools.Result{Text: "the sub-agent stopped: " + state.Answer, Failed: true, Kind: tools.KindLimit, Display: started.Display}, nil
	}
	said := state.Answer
	if state.Changed {
		said += fmt.Sprintf("\n\n[jcode] Its changes are in the worktree %s: agent action=merge name=%s takes them over.", state.Dir, name)
	}
	return tools.Result{Text: said, Display: started.Display, Data: data}, nil
}

func removeSite(ctx context.Context, site Site) error {
	if site == nil {
		return nil
	}
	site.Close()
	return site.Remove(context.WithoutCancel(ctx))
}

// keep writes down that an agent exists, so that it is found after a crash.
func (a *agents) keep(ctx context.Context, h *helper) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	row := session.Agent{
		Session: h.state.Session, Parent: a.c.ID(), Project: a.c.opt.Project, Name: h.state.Name,
		Role: h.state.Role, Model: h.state.Model, State: string(h.state.Status),
	}
	if h.site != nil {
		row.Dir, row.Branch, row.Base = h.site.Row()
	}
	return a.c.opt.Store.SaveAgent(context.WithoutCancel(ctx), row)
}

// follow sends an agent a prompt and watches it to the end of its turn.
func (a *agents) follow(h *helper, callID string, p Prompt) {
	sub := h.child.Subscribe()
	a.work.Go(func() {
		defer sub.Close()
		for {
			ev, ok := sub.Next(context.Background()) // ends with the child, which Close closes
			if !ok {
				a.change(h, func() {
					if h.state.Running() {
						h.state.Status, h.state.Ended, h.told = AgentStopped, time.Now(), true
					}
				})
				return
			}
			a.c.emit(Nested{CallID: callID, Session: h.state.Session, Label: h.state.Name, Agent: h.state.Name, Event: ev})
			a.saw(h, ev)
		}
	})
	h.child.Prompt(p)
}

// saw brings an agent's state up to date.
func (a *agents) saw(h *helper, ev Event) {
	switch ev := ev.(type) {
	case AssistantMessage:
		a.change(h, func() { h.write(ev.Text) })
	case CallStart:
		a.change(h, func() {
			h.state.Call = ev.Name
			h.write("→ " + ev.Name + " " + text.Cut(string(ev.Arguments), 200))
		})
	case CallEnd:
		a.change(h, func() { h.state.Call = "" })
	case Notice:
		a.change(h, func() { h.write("! " + ev.Text) })
	case UsageEvent:
		a.change(h, func() { h.state.Tokens, h.state.Cost = ev.Total.Input+ev.Total.Output, ev.Cost })
	case TurnStart:
		a.change(h, func() {
			h.state.Status, h.state.Ended, h.told = AgentWorking, time.Time{}, false
			h.write("› " + ev.Prompt)
		})
	case TurnEnd:
		a.ended(h, ev)
	}
}

func (h *helper) write(s string) {
	if s = strings.TrimSpace(s); s == "" {
		return
	}
	h.out += s + "\n"
	if over := len(h.out) - keptOutput; over > 0 {
		kept := text.CutTail(h.out, keptOutput/2)
		h.seen = max(h.seen-(len(h.out)-len(kept)), 0)
		h.out = kept
	}
}

// ended announces the end of an agent's turn, and puts an unchanged worktree away.
func (a *agents) ended(h *helper, end TurnEnd) {
	status, answer := AgentDone, strings.TrimSpace(end.Text)
	switch end.Reason {
	case StopError, StopLimit:
		status, answer = AgentFailed, strings.TrimSpace(end.Error+"\n"+answer)
	case StopInterrupted:
		status = AgentStopped
	case StopDone:
	}
	changed, note := a.leaveSite(h, status)
	a.change(h, func() {
		h.state.Status, h.state.Ended, h.state.Call, h.state.Answer, h.state.Changed = status, time.Now(), "", answer, changed
		if status != AgentStopped {
			a.news = append(a.news, fmt.Sprintf("The agent %s ended (%s).%s Its answer:\n%s", h.state.Name, status, note, answer))
		}
	})
	a.c.write("store agent", func(ctx context.Context) error {
		return a.c.opt.Store.SetAgentState(ctx, h.state.Session, string(status))
	})
	if h.site != nil && !changed && status == AgentDone {
		a.work.Go(func() { // it ends the goroutine that this runs in
			a.c.write("remove the worktree of "+h.state.Name, func(ctx context.Context) error { return a.removed(ctx, h) })
		})
	}
	level := LevelInfo
	if status == AgentFailed {
		level = LevelWarn
	}
	a.c.Notify(level, "agent %s %s: %s%s", h.state.Name, status, text.Truncate(text.OneLine(answer), 200, "…"), note)
}

// leaveSite removes a worktree without changes and says what is in one with changes.
func (a *agents) leaveSite(h *helper, status AgentStatus) (changed bool, note string) {
	if h.site == nil {
		return false, ""
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	diff, err := h.site.Diff(ctx)
	switch {
	case err != nil:
		return true, fmt.Sprintf(" What it changed in %s can't be read: %v.", h.site.Dir(), err)
	case diff == "" && status == AgentDone:
		return false, " It changed no file."
	case diff == "":
		return false, ""
	}
	files := strings.Count(diff, "\ndiff --git ") + 1
	return true, fmt.Sprintf(" It changed %s in its worktree: merge or discard them (agent %s).", text.Count(files, "file"), h.state.Name)
}

// takeNews returns what the model is to be told, once.
func (a *agents) takeNews() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, h := range a.list {
		if !h.state.Running() {
			h.told = true
		}
	}
	told := strings.Join(a.news, "\n\n")
	a.news = nil
	return told
}

// unfinished reports whether an agent works, or its end was not told yet.
func (a *agents) unfinished() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.news) > 0 || slices.ContainsFunc(a.list, func(h *helper) bool { return h.state.Running() })
}

// wait waits until the agents of a name, or all, have ended; with first until one has. It ends
// with ctx and after the limit.
func (a *agents) wait(ctx context.Context, name string, first bool) {
	ctx, cancel := context.WithTimeout(ctx, agentWait)
	defer cancel()
	for {
		a.mu.Lock()
		running, ended := 0, len(a.news)
		for _, h := range a.list {
			if (name == "" || h.state.Name == name) && h.state.Running() {
				running++
			}
		}
		tick := a.tick
		a.mu.Unlock()
		if running == 0 || first && ended > 0 {
			return
		}
		select {
		case <-tick:
		case <-ctx.Done():
			return
		}
	}
}

// close ends all agents; their worktrees stay.
func (a *agents) close() {
	a.mu.Lock()
	list := slices.Clone(a.list)
	a.mu.Unlock()
	var ends sync.WaitGroup
	for _, h := range list {
		if h.child != nil {
			ends.Go(h.child.Close)
		}
	}
	ends.Wait()
	a.work.Wait()
	for _, h := range list {
		if h.site != nil {
			h.site.Close()
		}
	}
}

// asksFor puts an agent's questions to the person of the conversation that it works for.
type asksFor struct {
	a *agents
	h *helper
}

func (f *asksFor) waiting() (done func()) {
	f.a.change(f.h, func() { f.h.state.Status = AgentWaiting })
	return func() {
		f.a.change(f.h, func() {
			if f.h.state.Status == AgentWaiting {
				f.h.state.Status = AgentWorking
			}
		})
	}
}

// Ask implements tools.Asker.
func (f *asksFor) Ask(ctx context.Context, q tools.Question) (tools.Answer, error) {
	defer f.waiting()()
	return f.a.c.Ask(ctx, q)
}

// AskPerson puts a question of the ask tool.
func (f *asksFor) AskPerson(ctx context.Context, label, question string, options []string) (string, error) {
	defer f.waiting()()
	return f.a.c.AskPerson(ctx, label, question, options)
}

// AskForm puts a form.
func (f *asksFor) AskForm(ctx context.Context, form tools.Form) (tools.FormAnswer, error) {
	defer f.waiting()()
	return f.a.c.AskForm(ctx, form)
}
