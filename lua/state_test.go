package lua

import (
	"strings"
	"sync"
	"testing"

	"jcode/internal/testkit/eventually"
	"jcode/lua/wire"
	"jcode/tools"
)

// What several calls do to one key at the same time must all count.
func TestParallelUpdatesOfStateAreAllKept(t *testing.T) {
	t.Parallel()
	h := started(t, setup{})
	h.tool("count_up", `{"description": "d"}`, `return state.update("n", function(n) return (n or 0) + 1 end)`)
	h.room.Refresh()
	var calls sync.WaitGroup
	for range 12 {
		calls.Go(func() {
			if res := h.call("count_up", nil); res.Failed {
				t.Error(res.Text)
			}
		})
	}
	calls.Wait()
	if res := h.call("count_up", nil); res.Text != "13" {
		t.Errorf("13 updates made %s", res.Text)
	}
}

func TestUpdateOfState(t *testing.T) {
	t.Parallel()
	h := started(t, setup{})
	h.tool("try_it", `{"description": "d"}`, `
		local seen = {}
		state.update("a", function(v) seen[1] = tostring(v) return {1} end)
		state.update("a", function(v) seen[2] = v[1] return nil end)
		state.update("a", function(v) seen[3] = tostring(v) return "x" end)
		seen[4] = state.update("b", function() state.update("c", function() return 2 end) return 1 end)
		local ok, why = pcall(state.update, "a", function() error("no") end)
		seen[5] = tostring(ok)
		seen[6] = state.get("a")
		local runs = 0
		state.update("d", function(v) runs = runs + 1 if runs == 1 then state.set("d", 40) end return (v or 0) + 2 end)
		seen[7], seen[8] = runs, state.get("d")
		return json.encode(seen)`)
	h.room.Refresh()
	if res := h.call("try_it", nil); res.Text != `["nil",1,"nil",1,"false","x",2,42]` {
		t.Errorf("got %s", res.Text)
	}
	h.tool("own_key", `{"description": "d", "timeout_ms": 60000}`, `state.update("d", function() state.set("d", jcode.time()) return 1 end)`)
	h.room.Refresh()
	if res := h.call("own_key", nil); !res.Failed || !strings.Contains(res.Text, "does the function change it itself?") {
		t.Errorf("a function that changes its own key: %s", res.Text)
	}
}

// Calls of one answer keep their order if the tool stores values, and run beside each other otherwise.
func TestToolsWithStateKeepTheirOrder(t *testing.T) {
	t.Parallel()
	h := started(t, setup{})
	h.tool("adds", `{"description": "d"}`, `local all = state.get("all") or {} all[#all + 1] = 1 state.set("all", all) return "added"`)
	h.tool("adds_not", `{"description": "d"}`, `return statement or "states"`)
	h.plugin("notes", `return { id = "notes", init = function() jcode.register_intent({ name = "note", description = "d", read_only = true,
		handler = function() state.set("a", 1) return 1 end }) end }`)
	h.room.Refresh()
	eventually.True(t, "the plugin", func() bool { return h.has("note") })
	for name, want := range map[string]bool{"adds": true, "adds_not": false, "note": true} {
		e, _, _ := h.reg.Snapshot(nil).Lookup(name)
		if got := e.Spec.Serial != ""; got != want {
			t.Errorf("%s in its own order: %v, want %v", name, got, want)
		}
	}
}

// What a read-only tool starts could change things: it starts nothing.
func TestReadOnlyToolStartsNothingThatWorksOn(t *testing.T) {
	t.Parallel()
	h := started(t, setup{})
	for _, name := range []string{"task", "agent", "job", "todo"} {
		spec := tools.Spec{Name: name, ReadOnly: true, Trusted: true, Group: tools.GroupBuiltin}
		p := &principal{around: h.room.around, env: wire.EnvPlugin, readOnly: true}
		if no := p.mayDispatch(spec, nil, nil); no == nil || !strings.Contains(no.String("error"), name+" changes things") {
			t.Errorf("%s: %v", name, no)
		}
	}
}

// A read-only tool may run the declared commands that only read, a number is a word, and nothing else runs.
func TestReadOnlyToolRunsCommandsThatOnlyRead(t *testing.T) {
	t.Parallel()
	h := started(t, setup{})
	h.switchTo(tools.ModeYolo)
	writeFile(t, h.dir+"/f", "one\ntwo\nthree\n")
	h.tool("looks", `{"description": "d", "read_only": true, "permissions": {"exec": [["head"], ["touch"]]}}`, `
		local head, touch = jcode.exec({"head", "-n", 2, "f"}), jcode.exec({"touch", "made"})
		return head.stdout .. tostring(touch.ok) .. jcode.exec({"head", true}).error`)
	h.room.Refresh()
	if res := h.call("looks", nil); res.Text != "one\ntwo\nfalseexec denied: word 2 is neither text nor a number" {
		t.Errorf("got %q", res.Text)
	}
}
