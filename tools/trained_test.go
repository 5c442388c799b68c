package tools_test

import (
	"encoding/json"
	"testing"

	"jcode/tools"
)

func TestNamesThatModelsWereTrainedOnMeanOurTools(t *testing.T) {
	reg := tools.NewRegistry()
	for _, name := range []string{"exec", "read", "edit", "write", "todo"} {
		if err := reg.Register(tools.OwnerBuiltin, tools.RankBuiltin, fake{spec: tools.Spec{Name: name, ReadOnly: true, Parameters: json.RawMessage(`{"type":"object","properties":{}}`)}}); err != nil {
			t.Fatal(err)
		}
	}
	snap := reg.Snapshot(nil)
	for _, c := range [][4]string{
		{"bash", `{"command":"ls"}`, "exec", `{"command":"ls"}`},
		{"Bash", `{"command":"ls"}`, "exec", `{"command":"ls"}`},
		{"shell", `{"command":["bash","-lc","a && b"]}`, "exec", `{"command":"a \u0026\u0026 b"}`},
		{"run_shell_command", `{"command":"ls"}`, "exec", `{"command":"ls"}`},
		{"read_file", `{"path":"a"}`, "read", `{"path":"a"}`},
		{"str_replace_based_edit_tool", `{"command":"view","path":"a","view_range":[3,5]}`, "read", `{"limit":3,"offset":3,"path":"a"}`},
		{"str_replace_based_edit_tool", `{"command":"create","path":"a","file_text":"x"}`, "write", `{"file_text":"x","path":"a"}`},
		{"update_plan", `{"plan":[]}`, "todo", `{"plan":[]}`},
		{"TodoWrite", `{"todos":[]}`, "todo", `{"todos":[]}`},
	} {
		ours, args, ok := snap.Meant(c[0], json.RawMessage(c[1]))
		if !ok || ours != c[2] || string(args) != c[3] {
			t.Errorf("%s %s: %v %s %s", c[0], c[1], ok, ours, args)
		}
	}
	for _, name := range []string{"exec", "Grep", "nonsense"} { // ours, not offered, unknown
		if ours, _, ok := snap.Meant(name, nil); ok {
			t.Errorf("%s means %s", name, ours)
		}
	}
}
