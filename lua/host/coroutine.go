package host

import (
	"runtime"
	"strings"
	"weak"

	lua "github.com/yuin/gopher-lua"
)

// maxCoroutines is how many may be alive at once in one state.
const maxCoroutines = 64

// threads enforces what the engine does not check about coroutines: their number, their meter,
// resuming one that already runs, and yields that would cross a protected call.
type threads struct {
	L       *lua.LState // the state that they belong to
	meter   *meter
	guard   *guard
	alive   []weak.Pointer[lua.LState]
	active  map[*lua.LState]bool
	depth   map[*lua.LState]int // protected calls open on a thread
	create  lua.LGFunction
	wrap    lua.LGFunction
	resume  lua.LGFunction
	running lua.LGFunction
	status  lua.LGFunction
}

// openCoroutines returns the coroutine table.
func (e *engine) openCoroutines() *lua.LTable {
	up := e.open(lua.OpenCoroutine)
	orig := func(name string) lua.LGFunction { return up.RawGetString(name).(*lua.LFunction).GFunction }
	e.threads = &threads{
		L: e.L, meter: e.meter, guard: e.guard, active: map[*lua.LState]bool{}, depth: map[*lua.LState]int{},
		create: orig("create"), wrap: orig("wrap"), resume: orig("resume"), running: orig("running"), status: orig("status"),
	}
	t := e.L.CreateTable(0, 6)
	for name, fn := range map[string]lua.LGFunction{
		"create": e.threads.doCreate, "wrap": e.threads.doWrap, "resume": e.threads.doResume,
		"yield": e.threads.doYield, "running": e.threads.running, "status": e.threads.status,
	} {
		t.RawSetString(name, e.RegisterHost("coroutine."+name, fn))
	}
	return t
}

// room refuses when too many coroutines are alive. Dead and unreachable ones are not counted; finding the
// latter takes a collection.
func (t *threads) room(L *lua.LState) {
	t.sweep()
	if len(t.alive) >= maxCoroutines {
		runtime.GC()
		t.sweep()
	}
	if len(t.alive) >= maxCoroutines {
		L.RaiseError("too many coroutines: at most %d may be alive", maxCoroutines)
	}
}

func (t *threads) sweep() {
	kept := t.alive[:0]
	for _, w := range t.alive {
		if th := w.Value(); th != nil && !th.Dead {
			kept = append(kept, w)
		}
	}
	t.alive = kept
}

// adopt attaches a new thread to the meter of the state.
func (t *threads) adopt(th *lua.LState) {
	th.SetContext(t.meter)
	t.alive = append(t.alive, weak.Make(th))
}

func (t *threads) doCreate(L *lua.LState) int {
	t.room(L)
	n := t.create(L)
	t.adopt(L.ToThread(-1))
	return n
}

func (t *threads) doWrap(L *lua.LState) int {
	t.room(L)
	t.wrap(L)
	inner := L.Get(-1).(*lua.LFunction)
	th := inner.Upvalues[0].Value().(*lua.LState)
	t.adopt(th)
	L.Push(t.guard.register(t.L, "coroutine.wrap", func(L *lua.LState) int {
		if t.busy(th) {
			L.RaiseError("cannot resume a coroutine that is not suspended")
		}
		t.active[th] = true
		defer delete(t.active, th)
		L.Insert(th, 1)
		return t.resume(L)
	}))
	return 1
}

func (t *threads) busy(th *lua.LState) bool {
	return t.active[th] || th == t.L.G.MainThread || th == t.L.G.CurrentThread
}

func (t *threads) doResume(L *lua.LState) int {
	th := L.CheckThread(1)
	if t.busy(th) {
		return pushAll(L, lua.LFalse, lua.LString("cannot resume a coroutine that is not suspended"))
	}
	t.active[th] = true
	defer delete(t.active, th)
	n := t.resume(L)
	if n == 2 && L.Get(-2) == lua.LFalse {
		// The engine turns a Go panic inside a coroutine into a plain message.
		if s, ok := L.Get(-1).(lua.LString); ok && strings.HasPrefix(string(s), "runtime error: ") {
			t.guard.onPanic("the engine", string(s))
		}
	}
	return n
}

func (t *threads) doYield(L *lua.LState) int {
	if L == t.L.G.MainThread {
		L.RaiseError("attempt to yield from outside a coroutine")
	}
	if t.depth[L] > 0 {
		L.RaiseError("attempt to yield across pcall")
	}
	return -1
}

// enter marks that L is inside a call that a yield must not cross.
func (t *threads) enter(L *lua.LState) { t.depth[L]++ }

func (t *threads) leave(L *lua.LState) {
	if t.depth[L]--; t.depth[L] == 0 {
		delete(t.depth, L)
	}
}
