package agent_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"jcode/agent"
	"jcode/agent/event"
	"jcode/internal/testkit/modeltest"
	"jcode/session"
	"jcode/tools"
)

// Whatever is done to a session, its maker accepts each request: the servers of all protocols are as
// strict as the makers, and fail the test at the first invalid request.
func TestEveryHistoryIsOneThatTheMakersTake(t *testing.T) {
	t.Parallel()
	for seed := range uint64(30) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			l := &strictLife{random: rand.New(rand.NewPCG(seed, 11)), ids: []string{"test-model", "claude-opus-5-5", "gpt-5.6"}}
			l.live(t)
		})
	}
}

// strictLife runs a session through random turns, switches, rewinds, forks and resumes.
type strictLife struct {
	mu     sync.Mutex // the server and the tools ask for numbers too
	random *rand.Rand
	ids    []string
	b      *bench
	news   int // tools that came
	done   []string
}

func (l *strictLife) n(n int) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.random.IntN(n)
}

func (l *strictLife) did(what string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.done = append(l.done, fmt.Sprintf(what, args...))
}

// reply is the model's answer to a request: anything, sometimes a failure.
func (l *strictLife) reply(r modeltest.Request) modeltest.Reply {
	if strings.Contains(string(r.Raw), "Summarise this conversation") {
		return modeltest.Text("SUMMARY")
	}
	var out modeltest.Reply
	if l.n(4) > 0 {
		out = modeltest.Text([]string{"text", "some ", "ä\u2028 "}[l.n(3)], strings.Repeat("word ", l.n(40)))
	}
	if l.n(2) == 0 {
		out = out.WithReasoning("thought ", fmt.Sprint(l.n(1000)))
	}
	if l.n(5) == 0 {
		out = out.WithSearch(found)
	}
	var calls []modeltest.Call
	for range max(0, l.n(5)-2) {
		name := []string{"read", "write", "fails", "apply_patch", "switch", "nosuch"}[l.n(6)]
		args := []string{`{"path":"a"}`, `{}`, ``, `null`, `[1]`, `{"a`}[l.n(6)]
		if offered, ok := offers(r, name); ok && offered.Fields["type"] == "custom" {
			args = "*** Begin Patch\n*** End Patch"
		}
		calls = append(calls, modeltest.Call{Name: name, Args: args})
	}
	if len(calls) > 0 {
		out = out.WithCalls(calls...).ArgPieces(1 + l.n(9))
	}
	switch l.n(14) {
	case 0:
		return modeltest.Error(500, "server_error", "down")
	case 1:
		return out.CutAfter(1 + l.n(9))
	case 2:
		return modeltest.ContextOverflow()
	case 3:
		return out.Finish("length")
	case 4:
		return out.Finish("content_filter")
	}
	return out
}

func (l *strictLife) tools() []tools.Tool {
	did := func(text string) func(context.Context, tools.Call) (tools.Result, error) {
		return func(context.Context, tools.Call) (tools.Result, error) {
			switch l.n(12) {
			case 0:
				l.b.Interrupt()
			case 1:
				return tools.Result{Text: text, Parts: []tools.Part{{MIME: "application/pdf", Data: []byte("%PDF-1.7"), Text: "what it says"}}}, nil
			}
			return tools.Result{Text: text}, nil
		}
	}
	var patches []string
	var mu sync.Mutex
	patch := trained(&patches).(tool)
	run := patch.run
	patch.run = func(ctx context.Context, c tools.Call) (tools.Result, error) {
		mu.Lock()
		defer mu.Unlock()
		return run(ctx, c)
	}
	return []tools.Tool{
		reader("read", did("content \xff")), writer("write", did(" ")), fetching(), patch,
		writer("fails", func(context.Context, tools.Call) (tools.Result, error) {
			return tools.Result{}, context.DeadlineExceeded
		}),
		writer("switch", func(context.Context, tools.Call) (tools.Result, error) {
			l.change()
			return tools.Result{Text: "changed"}, nil
		}),
	}
}

// change switches the model, or has a tool come or go, also in the middle of a turn.
func (l *strictLife) change() {
	switch l.n(4) {
	case 0, 1:
		id := l.ids[l.n(len(l.ids))]
		l.did("model %s", id)
		if err := l.b.SetModel(id); err != nil {
			l.b.t.Error(err)
		}
	case 2:
		l.mu.Lock()
		l.news++
		name := fmt.Sprintf("new%d", l.news)
		l.mu.Unlock()
		l.did("tool %s", name)
		if err := l.b.reg.Register(name, tools.RankBuiltin, reader(name, says("new"))); err != nil {
			l.b.t.Error(err)
		}
	case 3:
		l.mu.Lock()
		name := fmt.Sprintf("new%d", l.news)
		l.mu.Unlock()
		l.did("without %s", name)
		l.b.reg.UnregisterOwner(name)
	}
}

func (l *strictLife) live(t *testing.T) {
	b, _ := polyglot(t, l.ids[l.n(3)], l.tools(), func(o *agent.Options) {
		searching(o)
		training("gpt-5.6")(o)
	}, modeltest.Func(l.reply).Forever())
	l.b = b
	defer func() {
		l.b.Close()
		if t.Failed() {
			t.Logf("done: %s", strings.Join(l.done, ", "))
		}
	}()
	for i := range 14 {
		switch op := l.n(10); {
		case op == 0 && l.b.ID() != "":
			l.did("compact")
			_ = l.b.Compact(t.Context(), "") // there may be nothing to compact
		case op == 1 && l.b.ID() != "":
			l.rewind(t)
		case op == 2 && l.b.ID() != "":
			l.resume(t, l.b.ID())
		case op == 3 && l.b.ID() != "":
			l.fork(t)
		case op == 4:
			l.change()
		case op == 5:
			l.did("interrupt")
			l.b.Prompt(event.Prompt{Text: fmt.Sprintf("prompt %d", i)})
			l.b.until(func(ev event.Event) bool {
				_, text := ev.(event.TextDelta)
				_, end := ev.(event.TurnEnd)
				if text {
					l.b.Interrupt()
				}
				return end
			})
		default:
			l.did("turn")
			l.b.turn(fmt.Sprintf("prompt %d", i))
		}
		if t.Failed() {
			return
		}
	}
}

// prompts are the seqs of the prompts that still count.
func (l *strictLife) prompts(t *testing.T) (out []int64) {
	rows, err := l.b.store.History().All(t.Context(), l.b.ID())
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		if row.Role == session.RoleUser && row.Archived == 0 {
			out = append(out, row.Seq)
		}
	}
	return out
}

func (l *strictLife) rewind(t *testing.T) {
	if all := l.prompts(t); len(all) > 0 {
		l.did("rewind")
		if err := l.b.Rewind(t.Context(), all[l.n(len(all))]); err != nil {
			t.Fatal(err)
		}
	}
}

func (l *strictLife) fork(t *testing.T) {
	upTo := int64(0)
	if all := l.prompts(t); len(all) > 1 && l.n(2) == 0 {
		upTo = all[1+l.n(len(all)-1)] - 1
	}
	forked, err := l.b.store.Fork(t.Context(), l.b.ID(), upTo)
	if err != nil {
		t.Fatal(err)
	}
	l.did("fork up to %d", upTo)
	l.resume(t, forked.ID)
}

func (l *strictLife) resume(t *testing.T, id string) {
	l.did("resume")
	l.b.Close()
	again, err := agent.Resume(t.Context(), l.b.opt, id)
	if err != nil {
		t.Fatal(err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.b = &bench{Conversation: again, t: t, store: l.b.store, reg: l.b.reg, sub: again.Subscribe(), opt: l.b.opt}
}
