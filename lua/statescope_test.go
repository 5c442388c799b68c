package lua

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"jcode/internal/testkit/eventually"
	"jcode/lua/manifest"
	"jcode/tools"
)

const countSource = `local n = (state.get("n") or 0) + 1 state.set("n", n) return "now " .. n`

func stateTool(t *testing.T, root, name string) {
	t.Helper()
	writeFile(t, filepath.Join(root, name, manifest.MainName), countSource)
	writeFile(t, filepath.Join(root, name, manifest.FileName), `{"description": "d"}`)
}

// Two tools that happen to have one name, in two folders of tools, know nothing of each other's values.
func TestFoldersOfOneNameShareNoState(t *testing.T) {
	t.Parallel()
	h := build(t, setup{})
	h.mode = tools.ModeYolo
	first := filepath.Join(h.dir, ".jcode", "lua", "tools")
	stateTool(t, first, "x")
	h.start()
	wantText(t, h.call("x", none()), "now 1")
	wantText(t, h.call("x", none()), "now 2")
	must(t, os.RemoveAll(filepath.Join(first, "x")))
	eventually.True(t, "the tool is gone", func() bool { return !h.has("x") })
	stateTool(t, filepath.Join(h.dir, "mcp_lua", "tools"), "x")
	eventually.True(t, "the other tool is there", func() bool { return h.has("x") })
	wantText(t, h.call("x", none()), "now 1")
}

// What a tool stored while the folders of a name shared their values is still there for the one that there is.
func TestStateFromBeforeFoldersWereToldApartIsKept(t *testing.T) {
	t.Parallel()
	h := build(t, setup{})
	h.mode = tools.ModeYolo
	other := filepath.Join(h.dir, "mcp_lua", "tools")
	stateTool(t, other, "x")
	stateTool(t, other, "y")
	stateTool(t, filepath.Join(h.dir, ".jcode", "lua", "tools"), "y")
	for _, name := range []string{"x", "y"} {
		must(t, h.state.Set(t.Context(), h.room.around.stateScope("project", name), "n", json.RawMessage("7")))
	}
	h.start()
	wantText(t, h.call("x", none()), "now 8")
	wantText(t, h.call("y", none()), "now 8")
	if _, ok, _ := h.state.Get(t.Context(), h.room.around.stateScope("project", "x"), "n"); ok {
		t.Error("the values are there twice")
	}
}
