//go:build linux || darwin

package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"jcode/internal/testkit/modeltest"
)

// TestHabitsOfOtherAgentsAreMet: names, arguments and forms that models were trained on with other agents do what is
// meant, over Anthropic's protocol; where nothing can be meant, the error says what to call, and is marked as one.
func TestHabitsOfOtherAgentsAreMet(t *testing.T) {
	t.Parallel()
	type habit struct {
		id, name, args string
		says           string // in the result
		failed         bool
	}
	habits := []habit{
		{"bash", "bash", `{"command":"echo $((6*7)); cd /; export X=1"}`, "42", false},
		{"again", "Bash", `{"command":"pwd | wc -c; echo X=$X."}`, "X=.", false}, // each call is a new shell
		{"shell", "shell", `{"command":["bash","-lc","echo as a list"]}`, "as a list", false},
		{"run", "run_shell_command", `{"command":"echo run"}`, "run", false},
		{"view", "view", `{"path":"a.txt"}`, "alpha", false},
		{"read_file", "read_file", `{"file_path":"a.txt"}`, "alpha", false},
		{"str_replace", "str_replace_based_edit_tool", `{"command":"str_replace","path":"a.txt","old_str":"alpha","new_str":"omega"}`, "a.txt", false},
		{"flat", "edit", `{"path":"a.txt","old_string":"omega","new_string":"sigma"}`, "a.txt", false},
		{"numbered", "edit", `{"path":"a.txt","old_string":"     1\tsigma","new_string":"tau"}`, "line numbers that read shows", true},
		{"mismatch", "edit", `{"path":"a.txt","old_string":"betta  gamma","new_string":"x"}`, "beta  gamma", true},
		{"plan", "update_plan", `{"explanation":"why","plan":[{"step":"look","status":"completed"},{"step":"do","status":"in_progress"}]}`, "1 of 2 done", false},
		{"todo", "TodoWrite", `{"todos":[{"content":"test it","status":"completed","activeForm":"Testing it"},{"content":"say so","status":"pending","activeForm":"Saying so"}]}`, "1 of 2 done", false},
		{"wrong todo", "todo", `{"items":[{"status":"nowhere"}]}`, "", true},
		{"unknown", "frobnicate", `{}`, "frobnicate", true},
	}
	var replies []modeltest.Reply
	for _, h := range habits {
		replies = append(replies, modeltest.Calls(modeltest.Call{ID: strings.ReplaceAll(h.id, " ", "_"), Name: h.name, Args: h.args}))
	}
	c := newChat(t, append(replies, modeltest.Text("done"))...)
	c.write("a.txt", "alpha\nbeta  gamma\n")
	if err := os.WriteFile(filepath.Join(c.home, "config.json"), []byte(`{"providers": {"anthropic": {"base_url": "`+c.srv.URL()+`", "protocol": "messages"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	c.env = append(c.env, "JCODE_MODEL=anthropic/claude-sonnet-5", "ANTHROPIC_API_KEY=sk-ant-test", "OPENAI_BASE_URL=")
	if out, err := c.command("jcode", "-p", "--mode", "yolo", "go").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	last := c.srv.Requests()[len(habits)]
	offered := last.ToolNames()
	failed := map[string]bool{}
	for _, m := range objectsOf(last.Fields["messages"]) {
		for _, b := range objectsOf(m["content"]) {
			if b["type"] == "tool_result" {
				failed[b["tool_use_id"].(string)] = b["is_error"] == true
			}
		}
	}
	for _, h := range habits {
		id := strings.ReplaceAll(h.id, " ", "_")
		got, ok := last.Result(id)
		if !ok || !strings.Contains(got.Content, h.says) || failed[id] != h.failed {
			t.Errorf("%s(%s): failed %v, %q", h.name, h.args, failed[id], got.Content)
		}
		if h.failed && strings.Count(got.Content, "\n") > 25 {
			t.Errorf("%s: the error is long: %q", h.name, got.Content)
		}
	}
	if got := c.read("a.txt"); got != "sigma\nbeta  gamma\n" {
		t.Errorf("the file: %q", got)
	}
	unknown, _ := last.Result("unknown")
	for _, word := range strings.FieldsFunc(unknown.Content, func(r rune) bool { return !(r >= 'a' && r <= 'z' || r == '_') }) {
		if (word == "apply_patch" || strings.HasPrefix(word, "mcp_")) && !strings.Contains(strings.Join(offered, " "), word) {
			t.Errorf("the error names %s, which is not offered: %q", word, unknown.Content)
		}
	}
	describes(t, last)
}

// plain are the parameters that need no words: the tool's own description says what they are, or their values do.
func plain() []string {
	return []string{
		"read.path", "write.path", "mkdir.path", "remove.path", "mv.src", // the file or folder that the description speaks of
		"grep.pattern", "glob.pattern", "fetch.url", "skill.name", "ask.question", "todo.items", // named by the description
		"agent.action", "job.action", // an enumeration, whose words the description explains
		"exec.tty", // named by the description
	}
}

// Each parameter of each tool is described, also of those that are offered later, unless it is plain.
func TestParametersAreDescribedUnlessTheyArePlain(t *testing.T) {
	t.Parallel()
	c := newChat(t)
	out, err := c.command("jcode", "tools", "--json").Output()
	if err != nil {
		t.Fatal(err)
	}
	var list struct {
		Tools []struct {
			Name       string `json:"name"`
			Parameters struct {
				Properties map[string]struct {
					Description string `json:"description"`
				} `json:"properties"`
			} `json:"parameters"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(out, &list); err != nil || len(list.Tools) < 20 {
		t.Fatalf("%v: %d tools", err, len(list.Tools))
	}
	seen := map[string]bool{}
	for _, tool := range list.Tools {
		for name, p := range tool.Parameters.Properties {
			full := tool.Name + "." + name
			seen[full] = true
			if isPlain := slices.Contains(plain(), full); isPlain == (p.Description != "") {
				t.Errorf("%s: plain %v, description %q", full, isPlain, p.Description)
			}
		}
	}
	for _, name := range plain() {
		if !seen[name] {
			t.Errorf("%s is plain, and not there", name)
		}
	}
}

// describes checks what descriptions of the offered tools must say.
func describes(t *testing.T, r modeltest.Request) {
	t.Helper()
	exec, _ := r.Tool("exec")
	if said := exec.Description; !strings.Contains(said, "new shell") || !strings.Contains(said, "cd") || !strings.Contains(said, "export") {
		t.Errorf("exec does not say that each call is a new shell: %q", said)
	}
	edit, _ := r.Tool("edit")
	properties, _ := edit.Parameters["properties"].(map[string]any)
	for _, name := range []string{"path", "old_string", "new_string", "replace_all"} {
		if properties[name] == nil {
			t.Errorf("edit has no %s", name)
		}
	}
	if properties["edits"] != nil {
		t.Error("edit describes edits, which it only accepts")
	}
}

func objectsOf(v any) (out []map[string]any) {
	b, err := json.Marshal(v)
	if err == nil {
		_ = json.Unmarshal(b, &out) // what is no list of objects has none
	}
	return out
}
