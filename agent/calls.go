package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"jcode/agent/event"
	"jcode/agent/history"
	"jcode/agent/model"
	"jcode/internal/text"
	"jcode/session"
	"jcode/tools"
)

// maxParallel bounds the read-only calls that run at once.
const maxParallel = 8

// maxBeside bounds the concurrent calls to MCP servers. It is higher, so that a call that ends other calls
// does not wait behind them.
const maxBeside = 32

// errLooping ends a turn in which the model keeps repeating itself.
var errLooping = errors.New("stopped: the model keeps making the same calls with the same results")

// pendingCall is a committed call that has not run yet.
type pendingCall struct {
	model.Call
	index     int
	canonical string
	parallel  bool // read-only: may run in parallel
	beside    bool // goes to a server that takes several calls at once, or ends such calls
	changes   bool // changes files by name
	followed  bool // another call of the answer that changes files comes after it
	key       [32]byte
}

// finished is a call with its result.
type finished struct {
	result tools.Result
	status session.Status
	// refused is set when the loop guard refused the call; the guard does not remember it.
	refused bool
}

// pending prepares an answer's calls: canonical names, unique IDs.
func (t *turn) pending(snap tools.Snapshot, calls []model.Call) []pendingCall {
	out := make([]pendingCall, 0, len(calls))
	for i, call := range calls {
		p := pendingCall{Call: call, index: i, canonical: call.Name}
		p.ID = t.c.out.history.FreeID(call.ID, i)
		named := call.Name
		if ours, _, ok := snap.Meant(call.Name, json.RawMessage(call.Arguments)); ok {
			named = ours
		}
		if e, ok, _ := snap.Lookup(named); ok {
			p.canonical = e.Spec.Name
			p.parallel = e.Spec.ReadOnly && (e.Spec.Trusted || e.Owner == tools.OwnerBuiltin) && e.Spec.Serial == ""
			p.beside = e.Spec.Beside
			p.changes = !e.Spec.ReadOnly && e.Owner == tools.OwnerBuiltin && e.Spec.Needs&(tools.CapWrite|tools.CapDelete) != 0 && e.Spec.Needs&tools.CapExecute == 0
		}
		p.key = callKey(p.canonical, json.RawMessage(call.Arguments))
		out = append(out, p)
	}
	last := -1
	for i, p := range out {
		if p.changes {
			last = i
		}
	}
	for i := range out {
		out[i].followed = out[i].changes && i < last
	}
	return out
}

// runCalls runs an answer's calls: consecutive read-only calls in parallel, consecutive calls to MCP servers likewise, the
// others one after another. Each result is committed as it arrives; the history receives them in call order.
func (t *turn) runCalls(ctx context.Context, snap tools.Snapshot, seq int64, calls []pendingCall) error {
	results := make([]finished, len(calls))
	for i := 0; i < len(calls); {
		group := groupAt(calls, i)
		var wg sync.WaitGroup
		limit := make(chan struct{}, maxParallel)
		if calls[i].beside {
			limit = make(chan struct{}, maxBeside)
		}
		for j := i; j < i+group; j++ {
			if why := t.guard.stuck(calls[j].key); why != "" {
				t.guard.alerts++
				results[j] = t.refuse(seq, calls[j], why)
				continue
			}
			if group == 1 {
				t.startCall(calls[j])
				results[j] = t.runCall(ctx, snap, seq, calls[j])
				continue
			}
			limit <- struct{}{}
			t.startCall(calls[j]) // here, so that subscribers see them in call order
			wg.Go(func() {
				defer func() { <-limit }()
				results[j] = t.runCall(ctx, snap, seq, calls[j])
			})
		}
		wg.Wait()
		for j := i; j < i+group; j++ {
			if !results[j].refused {
				t.guard.add(calls[j].key, results[j].result.Text)
			}
		}
		i += group
	}
	for i, p := range calls {
		t.c.out.history.Push(seq, history.Result(p.Call, results[i].result))
	}
	if t.guard.alerts >= cmp.Or(t.c.opt.LoopAlerts, guardAlerts) {
		return errLooping
	}
	return nil
}

// groupAt returns how many calls from i on run in parallel. Equal calls never do.
func groupAt(calls []pendingCall, i int) int {
	run := func(may func(pendingCall) bool) int {
		seen := map[[32]byte]bool{}
		n := 0
		for ; i+n < len(calls) && may(calls[i+n]) && !seen[calls[i+n].key]; n++ {
			seen[calls[i+n].key] = true
		}
		return n
	}
	return max(1, run(func(p pendingCall) bool { return p.parallel }), run(func(p pendingCall) bool { return p.beside }))
}

// startCall notifies the subscribers that a call begins.
func (t *turn) startCall(p pendingCall) {
	t.c.emit(event.CallStart{ID: p.ID, Name: p.canonical, Arguments: shownArguments(p.Arguments), At: time.Now()})
}

// runCall dispatches one call that startCall has announced, and commits its result.
func (t *turn) runCall(ctx context.Context, snap tools.Snapshot, seq int64, p pendingCall) finished {
	switch {
	case ctx.Err() != nil:
		return t.settle(seq, p, tools.Failure(tools.Errorf(tools.KindCancelled, "not run: interrupted by user")), 0)
	case p.Incomplete:
		return t.settle(seq, p, tools.Failure(tools.Errorf(tools.KindInvalidArgs,
			"not run: the answer was cut off inside this call's arguments. Make the call again, with less text at once if it was long")), 0)
	}
	if !p.parallel {
		t.c.write("store call", func(ctx context.Context) error {
			return t.c.opt.Store.History().StartCall(ctx, t.c.record.row.ID, seq, p.index)
		})
	}
	out := t.c.opt.Dispatcher.DispatchIn(ctx, snap, tools.Call{
		ID: p.ID, Name: p.Name, Arguments: json.RawMessage(p.Arguments), Caller: t.caller(), Followed: p.followed,
		Progress: func(pr tools.Progress) { t.c.emit(event.CallProgress{ID: p.ID, Text: pr.Text, Output: pr.Output}) },
	})
	res := out.Result
	if res.Kind == tools.KindCancelled || (res.Failed && ctx.Err() != nil) {
		res.Failed, res.Kind = true, tools.KindCancelled
		if out.Ran {
			res.Text = history.AppendLine(res.Text, "interrupted by user")
		} else {
			res.Text = "not run: interrupted by user"
		}
	}
	return t.settle(seq, p, res, out.Duration)
}

// refuse commits a result that says why a call was not run.
func (t *turn) refuse(seq int64, p pendingCall, why string) finished {
	t.c.emit(event.CallStart{ID: p.ID, Name: p.canonical, Arguments: shownArguments(p.Arguments), At: time.Now()})
	res := tools.Failure(tools.Errorf(tools.KindLimit, "%s", why))
	f := t.settle(seq, p, res, 0)
	f.refused = true
	return f
}

// settle commits a result and notifies the subscribers.
func (t *turn) settle(seq int64, p pendingCall, res tools.Result, took time.Duration) finished {
	f := finished{result: res, status: statusOf(res)}
	row := session.Call{Session: t.c.record.row.ID, Seq: seq, Index: p.index, ID: p.ID, Status: f.status, Result: text.Valid(res.Text)}
	for _, part := range res.Parts {
		row.Parts = append(row.Parts, session.Part{Kind: session.PartImage, MIME: part.MIME, Data: part.Data, Text: part.Text})
	}
	if display, err := json.Marshal(res.Display); err == nil && string(display) != "{}" {
		row.Display = display
	}
	t.c.write(fmt.Sprintf("store result of %s", p.canonical), func(ctx context.Context) error { return t.c.opt.Store.History().FinishCall(ctx, row) })
	t.c.emit(event.CallEnd{ID: p.ID, Name: p.canonical, Result: res, Status: string(f.status), Duration: took})
	return f
}

func statusOf(res tools.Result) session.Status {
	switch {
	case !res.Failed:
		return session.StatusDone
	case res.Kind == tools.KindCancelled:
		return session.StatusInterrupted
	case res.Kind == tools.KindDenied:
		return session.StatusDenied
	}
	return session.StatusFailed
}

// caller identifies the model in this turn and what it may do.
func (t *turn) caller() tools.Caller {
	t.c.mu.Lock()
	defer t.c.mu.Unlock()
	caller := tools.Caller{
		Session: t.c.record.row.ID, Root: t.c.opt.Root, Turn: t.number, Origin: tools.OriginModel, Label: t.c.opt.Label,
		Mode: t.c.Mode, Scope: t.c.settings.scope, Desk: desk{t.c},
		Observe: func(call tools.Call, d tools.Decision) {
			t.c.emit(event.ApprovalDecided{CallID: call.ID, Name: call.Name, Allow: d.Allow, By: d.By, Rule: d.Rule})
		},
	}
	switch {
	case t.c.opt.Asker != nil:
		caller.Asker = t.c.opt.Asker
	case !t.c.opt.Headless:
		caller.Asker = t.c.person
	}
	return caller
}

// shownArguments returns arguments that can be displayed as JSON, whatever the model wrote.
func shownArguments(args string) json.RawMessage {
	object, fault := history.ObjectArguments(args)
	if fault == "" {
		return json.RawMessage(object)
	}
	b, err := json.Marshal(map[string]string{"unreadable": text.Valid(args)})
	if err != nil {
		return json.RawMessage("{}")
	}
	return b
}
