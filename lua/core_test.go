package lua

import (
	"testing"

	"jcode/tools"
	"jcode/tools/builtin"
)

// coreTools are jcode's own eight core intents over a folder.
func coreTools(t testing.TB, root string) []tools.Tool {
	t.Helper()
	ws, err := builtin.OpenWorkspace(root)
	if err != nil {
		t.Fatal(err)
	}
	sh := builtin.NewShell(builtin.ShellOptions{Dir: root})
	t.Cleanup(func() {
		if err := sh.Close(); err != nil {
			t.Error(err)
		}
		if err := ws.Close(); err != nil {
			t.Error(err)
		}
	})
	files, _ := builtin.Files(ws, builtin.Options{})
	return append(files[:7], sh.Tools()[0])
}
