package feed

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"jcode/agent"
	"jcode/agent/event"
	"jcode/agent/model"
	"jcode/cli/console"
	printcli "jcode/cli/print"
	"jcode/cli/stream"
	"jcode/mcp"
	"jcode/remote"
)

// Options are what a run that a program feeds is given.
type Options struct {
	console.Streams
	Conversation *agent.Conversation
	Events       *event.Subscription
	Session      string // its ID, also before it has messages
	Format       string // of what is printed
	Init         printcli.Init
	// Prompt makes a prompt of a text; of a command that is carried out, it returns what the command says.
	Prompt func(ctx context.Context, text string) (p event.Prompt, notice string, err error)
	// Want returns what the answer of one prompt must be.
	Want    func() (*printcli.Wanted, error)
	Actions remote.Actions // on the conversation
	Servers *mcp.Manager   // nil for --no-mcp
}

// Run does what the lines of the input say until both the input and what they began have ended.
func Run(ctx context.Context, o Options) error {
	conv := o.Conversation
	pr, out := printcli.New(o.Format, o.Streams)
	r := &run{
		conv: conv, typed: o.Prompt, wants: o.Want, pr: pr, out: out, notices: o.Err, session: cmp.Or(conv.ID(), o.Session),
		open: map[string]openPrompt{}, before: conv.Usage().Total,
	}
	r.own = remote.NewOwn(ctx, remote.Offer{
		Conversation: ownConversation{conv, r.unqueued}, From: func(name string) remote.Answers { return conv.From(name) },
		Actions: o.Actions,
	}, "prompt", "serve", "mcp")
	r.lent = &lending{servers: o.Servers, send: r.carry}
	o.Init.SessionID = r.session
	pr.Begin(o.Init)
	return r.serve(ctx, o.Events, o.In)
}

// ownConversation tells which prompts were taken out of the queue.
type ownConversation struct {
	*agent.Conversation
	unqueued func([]event.Prompt)
}

// Unqueue takes a prompt out of the queue, or all of them.
func (c ownConversation) Unqueue(id string) []event.Prompt {
	out := c.Conversation.Unqueue(id)
	c.unqueued(out)
	return out
}

// openPrompt is a prompt whose end was not seen.
type openPrompt struct {
	want  *printcli.Wanted
	ids   []string // the prompts that its answer is for
	steps int      // of the turns before it
}

// run is a run that a program feeds.
type run struct {
	conv    *agent.Conversation
	own     *remote.Own
	lent    *lending
	typed   func(ctx context.Context, text string) (p event.Prompt, notice string, err error)
	wants   func() (*printcli.Wanted, error)
	pr      printcli.Printer
	out     *bufio.Writer
	notices io.Writer
	session string

	// mu orders what is written: the response to a prompt comes before everything else about it.
	mu      sync.Mutex
	open    map[string]openPrompt // by ID in the queue
	turn    []string              // the prompts of the running turn
	running bool
	ended   bool // the input
	stop    context.CancelFunc
	awaited printcli.Agents
	before  model.Usage // when the turn began
	total   model.Usage
	sent    bool  // a prompt was queued
	faulty  bool  // a line was not done
	end     error // of the last turn
}

// serve reads lines and prints what happens until both are at their end.
func (r *run) serve(ctx context.Context, sub *event.Subscription, in io.Reader) error {
	over, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	r.stop, r.total = stop, r.before
	var reading sync.WaitGroup
	defer reading.Wait()
	ctx, leave := context.WithCancel(ctx)
	defer leave() // where nothing can be printed any more, nothing more is read
	reading.Go(func() {
		err := stream.Reader{In: in, Slow: r.slow, Do: r.do, Ended: r.lent.end}.Run(ctx)
		if ctx.Err() != nil {
			r.conv.Interrupt()
		}
		r.conv.Person().Leave()
		r.mu.Lock()
		defer r.mu.Unlock()
		if err != nil && ctx.Err() == nil {
			r.end, r.sent = &console.Exit{Code: console.ExitUsage, Err: err}, true
		}
		r.ended = true
		r.settle(ctx)
	})
	for {
		ev, ok := sub.Next(over)
		if !ok {
			break
		}
		if err := r.print(ctx, ev); err != nil {
			return &console.Exit{Code: console.ExitModel, Err: fmt.Errorf("write what happens: %w", err)}
		}
	}
	switch {
	case ctx.Err() != nil:
		return console.Interrupted()
	case !r.sent && r.faulty:
		return &console.Exit{Code: console.ExitUsage, Silent: true, Err: errors.New("no line of standard input was a prompt that could be sent")}
	}
	return r.end
}

// slow reports which lines may take a while: those that may run commands, or wait for the program.
func (r *run) slow(l stream.Line) bool {
	return slices.Contains([]string{"prompt", "undo", "rewind", "role", "serve"}, l.Type)
}

// do does what a line says, and answers it.
func (r *run) do(ctx context.Context, l stream.Line) {
	switch {
	case l.Fault != nil:
		r.refuse(l, "invalid", l.Fault.Error())
	case l.Type == "prompt":
		r.prompt(ctx, l)
	case l.Type == "serve":
		served, err := r.lent.serve(ctx, l.Params)
		r.answer(l, served, err)
	case l.Type == "mcp":
		if err := r.lent.message(l.Params); err != nil || l.Request != "" { // else its answer is one of MCP
			r.answer(l, nil, err)
		}
	default:
		result, err := r.own.Do(ctx, l.Type, l.Params)
		if r.answer(l, result, err); err == nil {
			r.mu.Lock()
			r.settle(ctx)
			r.mu.Unlock()
		}
	}
}

// answer answers a line with its result, or the error why it was not done.
func (r *run) answer(l stream.Line, result any, err error) {
	if err != nil {
		r.refuse(l, remote.Kind(err), remote.Words(err))
		return
	}
	r.respond(stream.Answer(l, result))
}

// carry writes a message to an MCP server that the program serves.
func (r *run) carry(server string, message []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	printcli.WriteJSON(r.out, stream.Carry(server, message))
	return r.out.Flush()
}

// prompt queues a prompt. A command is carried out.
func (r *run) prompt(ctx context.Context, l stream.Line) {
	var p remote.Prompt
	if err := remote.Strict(l.Params, &p); err != nil {
		r.refuse(l, remote.Kind(err), remote.Words(err))
		return
	}
	typed, notice, err := r.typed(ctx, p.Text)
	if err != nil {
		r.refuse(l, "invalid", err.Error())
		return
	}
	if typed.Text == "" && strings.TrimSpace(p.Text) != "" { // a command that did all there was to do
		r.respond(stream.Answer(l, stream.Prompted{Said: notice}))
		return
	}
	want, err := r.wants()
	if err != nil {
		r.refuse(l, "failed", err.Error())
		return
	}
	if err := r.queue(l, p, want, typed, notice); err != nil {
		r.refuse(l, remote.Kind(err), remote.Words(err))
	}
}

// queue queues a prompt, and answers its line before anything else is printed about it.
func (r *run) queue(l stream.Line, p remote.Prompt, want *printcli.Wanted, typed event.Prompt, notice string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	queued, err := r.own.Prompt(p, want.Prompt(typed))
	if err != nil {
		return err
	}
	r.sent, r.open[queued.ID] = true, openPrompt{want: want, ids: []string{queued.ID}}
	printcli.WriteJSON(r.out, stream.Answer(l, stream.Prompted{ID: queued.ID, Said: notice}))
	return nil
}

func (r *run) refuse(l stream.Line, kind, words string) {
	r.mu.Lock()
	r.faulty = true
	fmt.Fprintf(r.notices, "jcode: line %d of standard input: %s\n", l.N, words)
	r.mu.Unlock()
	r.respond(stream.Refuse(l, kind, words))
}

func (r *run) respond(answer stream.Response) {
	r.mu.Lock()
	defer r.mu.Unlock()
	printcli.WriteJSON(r.out, answer)
}

// unqueued forgets prompts that are not sent any more.
func (r *run) unqueued(list []event.Prompt) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range list {
		delete(r.open, p.Queued)
	}
}

// print shows an event. A turn that ends has a result.
func (r *run) print(ctx context.Context, ev event.Event) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch ev := ev.(type) {
	case event.TurnStart:
		r.running = true
		r.turn = append(r.turn, ev.Queued)
	case event.Usage:
		r.total = ev.Total
	case event.Nested:
		r.awaited.Saw(ev)
	case event.TurnEnd:
		r.result(ev)
		r.settle(ctx)
		return r.out.Flush()
	}
	r.pr.Event(ev)
	if ev, ok := ev.(event.Unsent); ok {
		delete(r.open, ev.Queued)
		r.settle(ctx)
	}
	return r.out.Flush()
}

// result prints how a turn ended. The caller holds the lock.
func (r *run) result(end event.TurnEnd) {
	var prompts []openPrompt
	for _, id := range append(r.turn, end.Queued) {
		if p, waits := r.open[id]; waits {
			prompts = append(prompts, p)
			delete(r.open, id)
		}
	}
	r.running, r.turn = false, nil
	all := openPrompt{want: &printcli.Wanted{}}
	for i, p := range prompts {
		if all.ids, all.steps = append(all.ids, p.ids...), all.steps+p.steps; i == 0 {
			all.want = p.want
		}
	}
	res := printcli.Result{
		Type: "result", OK: end.Reason == event.StopDone, Text: end.Text, Error: end.Error, Prompts: all.ids,
		SessionID: cmp.Or(r.conv.ID(), r.session), Steps: all.steps + end.Steps, DurationMS: end.Duration.Milliseconds(), Usage: printcli.Since(r.before, r.total),
	}
	switch why := end.Unanswered(); {
	case end.Reason == event.StopInterrupted:
		res.Error = "interrupted"
	case why != "":
		res.OK, res.Error = false, why
	case res.Error == "" && end.Err != nil:
		res.Error = end.Err.Error()
	}
	again, failed := all.want.Settle(end, &res)
	if again != "" {
		all.steps += end.Steps
		r.open[r.conv.Prompt(all.want.Repeat(again))] = all
		return
	}
	res.Agents = r.awaited.Lines
	for _, s := range r.conv.Agents().List() {
		res.Agents = append(res.Agents, printcli.AgentOf(s))
	}
	r.before, r.awaited = r.total, printcli.Agents{}
	r.pr.End(res)
	if r.end = failed; r.end == nil {
		r.end = printcli.EndError(end)
	}
}

// settle ends the run where nothing more can come. The caller holds the lock.
func (r *run) settle(ctx context.Context) {
	if !r.ended || r.running {
		return
	}
	if ctx.Err() != nil {
		r.stop()
		return
	}
	for _, p := range agent.DropHeld(r.conv) { // nobody sends the prompt for which they wait
		delete(r.open, p.Queued)
		r.pr.Event(event.Unsent{Prompt: p, Queued: p.Queued, Err: errors.New("the input ended while it waited after an interrupt")})
	}
	if len(r.open) == 0 {
		r.stop()
	}
}
