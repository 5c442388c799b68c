package acp_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const writeScript = `{"text":"I write.","reasoning":"let me see","tool_calls":[{"name":"write","arguments":{"path":"a.txt","content":"one\ntwo\n"}}]}
{"text":"done"}
`

func TestTurnShowsThoughtAnswerCallAndDiffAndAsksBeforeItWrites(t *testing.T) {
	t.Parallel()
	c := start(t, setup{script: writeScript})
	c.on("session/request_permission", choose("allow_once"))
	s := c.open()
	if got := c.stop(c.prompt(s, text("go"))); got != "end_turn" {
		t.Errorf("stop reason %q", got)
	}
	if got := c.said(s, "agent_thought_chunk"); got != "let me see" {
		t.Errorf("thought %q", got)
	}
	if got := c.said(s, "agent_message_chunk"); got != "I write.done" {
		t.Errorf("answer %q", got)
	}
	if got := read(t, filepath.Join(c.dir, "a.txt")); got != "one\ntwo\n" {
		t.Errorf("file %q", got)
	}
	call := c.of(s, "tool_call")[0]
	if call["kind"] != "edit" || call["title"] != "write a.txt" || call["locations"].([]any)[0].(object)["path"] != filepath.Join(c.dir, "a.txt") {
		t.Errorf("call %v", call)
	}
	asked := c.requests("session/request_permission")
	if len(asked) != 1 {
		t.Fatalf("asked %d times", len(asked))
	}
	for name, content := range map[string]any{
		"question": asked[0].Params["toolCall"].(object)["content"],
		"result":   c.of(s, "tool_call_update")[0]["content"],
	} {
		diff, _ := content.([]any)[len(content.([]any))-1].(object)
		if diff["type"] != "diff" || diff["newText"] != "one\ntwo\n" || diff["oldText"] != nil || diff["path"] != filepath.Join(c.dir, "a.txt") {
			t.Errorf("%s: diff %v", name, diff)
		}
	}
	if end := c.of(s, "tool_call_update")[0]; end["status"] != "completed" {
		t.Errorf("end %v", end)
	}
}

func TestEditShowsTheWholeFileBeforeAndAfter(t *testing.T) {
	t.Parallel()
	c := start(t, setup{script: `{"tool_calls":[{"name":"read","arguments":{"path":"sub/a.txt"}},{"name":"edit","arguments":{"path":"sub/a.txt","old_string":"line 50\n","new_string":"fifty\n"}}]}
{"text":"done"}
`})
	var old strings.Builder
	for i := range 100 {
		old.WriteString("line " + itoa(i) + "\n")
	}
	write(t, filepath.Join(c.dir, "sub", "a.txt"), old.String())
	c.on("session/request_permission", choose("allow_once"))
	s := c.open()
	c.stop(c.prompt(s, text("go")))
	now := strings.Replace(old.String(), "line 50\n", "fifty\n", 1)
	var ends []object
	for _, u := range c.of(s, "tool_call_update") {
		if u["status"] == "completed" {
			ends = append(ends, u)
		}
	}
	asked := c.requests("session/request_permission")[0].Params["toolCall"].(object)
	for name, u := range map[string]object{"question": asked, "result": ends[1]} {
		content := u["content"].([]any)
		diff := content[len(content)-1].(object)
		if diff["oldText"] != old.String() || diff["newText"] != now {
			t.Errorf("%s: the diff has not both whole versions: %.300v", name, diff)
		}
		if at := u["locations"].([]any)[0].(object); at["path"] != filepath.Join(c.dir, "sub", "a.txt") || at["line"].(float64) < 45 {
			t.Errorf("%s: location %v", name, at)
		}
	}
}

func itoa(i int) string { return string(rune('0'+i/10)) + string(rune('0'+i%10)) }

func TestRefusedPermissionChangesNothingAndTheTurnGoesOn(t *testing.T) {
	t.Parallel()
	for _, answer := range []string{"reject_once", "cancelled"} {
		t.Run(answer, func(t *testing.T) {
			c := start(t, setup{script: writeScript})
			c.on("session/request_permission", choose(answer))
			s := c.open()
			if got := c.stop(c.prompt(s, text("go"))); got != "end_turn" {
				t.Errorf("stop reason %q", got)
			}
			if _, err := os.Stat(filepath.Join(c.dir, "a.txt")); err == nil {
				t.Error("the file was written")
			}
			if end := c.of(s, "tool_call_update")[0]; end["status"] != "failed" {
				t.Errorf("end %v", end)
			}
		})
	}
}

func TestAlwaysIsKeptForTheProjectWithTheRuleInItsName(t *testing.T) {
	t.Parallel()
	script := `{"tool_calls":[{"name":"exec","arguments":{"cmd":"touch made"}}]}
{"text":"done"}
`
	c := start(t, setup{script: script})
	c.on("session/request_permission", func(r request) any {
		for _, o := range r.Params["options"].([]any) {
			if o := o.(object); strings.Contains(o["name"].(string), "always here: this command") && strings.Contains(o["name"].(string), "exec(touch made)") {
				return object{"outcome": object{"outcome": "selected", "optionId": o["optionId"]}}
			}
		}
		t.Errorf("no option names the rule: %v", r.Params["options"])
		return object{"outcome": object{"outcome": "cancelled"}}
	})
	c.stop(c.prompt(c.open(), text("go")))
	c.end()

	again := start(t, setup{script: script, home: c.home, dir: c.dir})
	again.stop(again.prompt(again.open(), text("go")))
	if n := len(again.requests("session/request_permission")); n != 0 {
		t.Errorf("asked %d times though the answer was kept", n)
	}
}

func TestCommandOutputArrivesWhileItRunsAndIsBounded(t *testing.T) {
	t.Parallel()
	script := `{"tool_calls":[{"name":"exec","arguments":{"cmd":"echo early; while [ ! -e go ]; do sleep 0.01; done; yes long-line-of-output | head -n 20000"}}]}
{"text":"done"}
`
	c := start(t, setup{script: script, args: []string{"--mode", "yolo"}})
	s := c.open()
	id := c.prompt(s, text("go"))
	c.wait("output while the command runs", func() bool {
		for _, u := range c.updates {
			if u.kind == "tool_call_update" && u.body["status"] == nil && strings.Contains(flat(u.body), "early") {
				return true
			}
		}
		return false
	})
	write(t, filepath.Join(c.dir, "go"), "")
	c.stop(id)
	for _, u := range c.of(s, "tool_call_update") {
		if n := len(flat(u["content"])); n > 40<<10 {
			t.Errorf("an update repeats %d bytes of output", n)
		}
	}
}

func TestQueuedPromptIsAnsweredToo(t *testing.T) {
	t.Parallel()
	c := start(t, setup{script: `{"tool_calls":[{"name":"exec","arguments":{"cmd":"while [ ! -e go ]; do sleep 0.01; done"}}]}
{"text":"one"}
{"text":"two"}
`, args: []string{"--mode", "yolo"}})
	s := c.open()
	first := c.prompt(s, text("first"))
	c.wait("the call", func() bool { return has(c.updates, "tool_call") })
	second := c.prompt(s, text("second"))
	write(t, filepath.Join(c.dir, "go"), "")
	if a, b := c.stop(first), c.stop(second); a != "end_turn" || b != "end_turn" {
		t.Errorf("stop reasons %q and %q", a, b)
	}
}

func has(updates []update, kind string) bool {
	for _, u := range updates {
		if u.kind == kind {
			return true
		}
	}
	return false
}

// flat returns a value as JSON, to search for words in it.
func flat(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(raw)
}
