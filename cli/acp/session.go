package acp

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/coder/acp-go-sdk"
	"github.com/google/uuid"

	"jcode/agent"
	"jcode/agent/event"
)

// openSession is one session that the client has open.
type openSession struct {
	client *client
	id     string
	cwd    string
	w      *Workspace
	conv   *agent.Conversation
	events *event.Subscription
	ctx    context.Context // ends when the session is closed
	end    context.CancelFunc
	ready  chan struct{} // closed when the workspace has started: commands need its conversation
	work   sync.WaitGroup
	once   sync.Once

	mu        sync.Mutex
	pending   []*prompt
	questions map[string]context.CancelCauseFunc // open questions to the person, by ID
	models    []Choice                           // those that the endpoint lists, once it has

	// Owned by the goroutine in follow.
	shown shown
}

// prompt is one session/prompt that has no answer yet.
type prompt struct {
	queued  string // its ID in the conversation's queue, "" until it is there
	started bool
	stopped bool               // cancelled before it was sent
	cancel  context.CancelFunc // ends its slash command
	done    chan outcome
}

type outcome struct {
	reason acp.StopReason
	err    error
}

// settle answers the prompt; only the first answer is used.
func (p *prompt) settle(o outcome) {
	select {
	case p.done <- o:
	default:
	}
}

func newOpenSession(c *client, o Opening, w *Workspace) *openSession {
	ctx, cancel := context.WithCancel(context.Background())
	return &openSession{
		client: c, id: o.ID, cwd: o.Cwd, w: w, conv: w.Conversation, events: w.Conversation.Subscribe(),
		ctx: ctx, end: cancel, ready: make(chan struct{}), questions: map[string]context.CancelCauseFunc{}, shown: newShown(),
	}
}

// begin starts what runs beside the session, once the client knows it: whatever is said about a session before
// the reply that names it is lost.
func (o *openSession) begin() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ctx.Err() != nil {
		return
	}
	o.work.Go(o.follow)
	o.work.Go(func() {
		o.w.Start()
		close(o.ready)
		o.askTrust()
	})
	o.work.Go(o.learnModels)
}

// close ends the session and waits for it.
func (o *openSession) close() {
	o.once.Do(func() {
		o.mu.Lock()
		o.end()
		o.mu.Unlock()
		o.cancel()
		o.work.Wait()
		o.events.Close()
		o.w.Close()
		o.mu.Lock()
		left := o.pending
		o.pending = nil
		o.mu.Unlock()
		for _, p := range left {
			p.settle(outcome{reason: acp.StopReasonCancelled})
		}
	})
}

// update sends a session update.
func (o *openSession) update(u acp.SessionUpdate) {
	o.client.conn.notify(acp.ClientMethodSessionUpdate, acp.SessionNotification{SessionId: acp.SessionId(o.id), Update: u})
}

// say shows the person a notice. It is no part of the answer, and many clients join all chunks of a message,
// whatever their IDs: so it is sent as a thought, marked as what it is.
func (o *openSession) say(notice string) {
	id := uuid.NewString()
	o.update(acp.SessionUpdate{AgentThoughtChunk: &acp.SessionUpdateAgentThoughtChunk{
		Content: acp.TextBlock(notice + "\n"), MessageId: &id, Meta: map[string]any{"jcode/notice": true},
	}})
}

// answer shows what a slash command says.
func (o *openSession) answer(said string) {
	id := uuid.NewString()
	o.update(acp.SessionUpdate{AgentMessageChunk: &acp.SessionUpdateAgentMessageChunk{Content: acp.TextBlock(said), MessageId: &id}})
}

// register records that a prompt has arrived.
func (o *openSession) register() *prompt {
	p := &prompt{done: make(chan outcome, 1)}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.pending = append(o.pending, p)
	return p
}

func (o *openSession) forget(p *prompt) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.pending = slices.DeleteFunc(o.pending, func(q *prompt) bool { return q == p })
}

// run sends a registered prompt and waits for its turn to end.
func (o *openSession) run(ctx context.Context, p *prompt, blocks []acp.ContentBlock) (any, error) {
	defer o.forget(p)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	o.mu.Lock()
	p.cancel = cancel
	stopped := p.stopped
	o.mu.Unlock()
	if stopped {
		return acp.PromptResponse{StopReason: acp.StopReasonCancelled}, nil
	}
	message, err := o.message(ctx, blocks)
	switch {
	case ctx.Err() != nil:
		return acp.PromptResponse{StopReason: acp.StopReasonCancelled}, nil
	case err != nil:
		return nil, err
	case message.Text == "" && len(message.Images) == 0: // a command that needs no model
		return acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, nil
	}
	if !o.enqueue(p, message) {
		return acp.PromptResponse{StopReason: acp.StopReasonCancelled}, nil
	}
	stop := context.AfterFunc(ctx, o.cancel)
	defer stop()
	out := <-p.done
	if out.err != nil {
		return nil, out.err
	}
	return acp.PromptResponse{StopReason: out.reason}, nil
}

// enqueue passes a prompt to the conversation, unless it was cancelled meanwhile.
func (o *openSession) enqueue(p *prompt, message event.Prompt) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if p.stopped || o.ctx.Err() != nil {
		return false
	}
	p.queued = o.conv.Prompt(message)
	return true
}

// cancel ends what is running and withdraws what is queued, as Esc does in the terminal. Every prompt is
// answered as cancelled: queued ones at once, a running one when its turn has ended.
func (o *openSession) cancel() {
	o.mu.Lock()
	var waiting []*prompt
	for _, p := range o.pending {
		p.stopped = true
		if p.queued == "" && p.cancel != nil {
			p.cancel()
		}
		if p.queued != "" && len(o.conv.Unqueue(p.queued)) > 0 {
			waiting = append(waiting, p)
		}
	}
	for _, close := range o.questions {
		close(context.Canceled)
	}
	o.mu.Unlock()
	for _, p := range waiting {
		p.settle(outcome{reason: acp.StopReasonCancelled})
	}
	o.conv.Interrupt()
}

// turnStarted records which prompt the turn works on.
func (o *openSession) turnStarted(id string) {
	o.mu.Lock()
	for _, p := range o.pending {
		p.started = p.started || p.queued == id
	}
	o.mu.Unlock()
	o.stopCancelled()
}

// stopCancelled interrupts the turn of a prompt that was cancelled before an interrupt could
// reach it: while it left the queue, or while the turn waited for scripts and servers.
func (o *openSession) stopCancelled() {
	o.mu.Lock()
	stop := slices.ContainsFunc(o.pending, func(p *prompt) bool { return p.started && p.stopped })
	o.mu.Unlock()
	if stop {
		o.conv.Interrupt()
	}
}

// unsent answers a prompt that was not committed while a turn runs, which TurnEnd does not name.
func (o *openSession) unsent(ev event.Unsent) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, p := range o.pending {
		switch {
		case p.queued != ev.Queued:
		case p.stopped:
			p.settle(outcome{reason: acp.StopReasonCancelled})
		default:
			p.settle(outcome{err: &acp.RequestError{Code: -32603, Message: ev.Err.Error()}})
		}
	}
}

// turnEnded answers the prompts that the turn worked on.
func (o *openSession) turnEnded(ev event.TurnEnd) {
	out := outcome{reason: acp.StopReasonEndTurn}
	switch ev.Reason {
	case event.StopDone:
		switch ev.Finish {
		case "length":
			out.reason = acp.StopReasonMaxTokens
		case "content_filter", "refusal":
			out.reason = acp.StopReasonRefusal
		}
	case event.StopInterrupted:
		out.reason = acp.StopReasonCancelled
	case event.StopLimit:
		out.reason = acp.StopReasonMaxTurnRequests
	case event.StopError:
		out.err = &acp.RequestError{Code: -32603, Message: cmp.Or(ev.Error, "the model failed")}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, p := range o.pending {
		switch {
		case !p.started && (p.queued == "" || p.queued != ev.Queued):
		case p.stopped: // whatever ended the turn
			p.settle(outcome{reason: acp.StopReasonCancelled})
		default:
			p.settle(out)
		}
	}
}
