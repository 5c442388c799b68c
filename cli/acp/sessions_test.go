package acp_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"jcode/cli"
	"jcode/cli/console"
	"jcode/internal/testkit/eventually"
)

// gone waits until a process has ended.
func gone(t *testing.T, pid string) {
	t.Helper()
	n, err := strconv.Atoi(strings.TrimSpace(pid))
	if err != nil {
		t.Fatalf("no process ID: %q", pid)
	}
	process, err := os.FindProcess(n)
	if err != nil {
		return
	}
	if !eventually.Holds(deadline, func() bool { return process.Signal(syscall.Signal(0)) != nil }) {
		t.Errorf("process %d is still there", n)
	}
}

func TestLoadedSessionReplaysEverythingInOrder(t *testing.T) {
	t.Parallel()
	c := start(t, setup{script: `{"text":"I plan.","reasoning":"hm","tool_calls":[{"name":"todo","arguments":{"items":[{"text":"write it","status":"in_progress"}]}},{"name":"write","arguments":{"path":"a.txt","content":"one\n"}}]}
{"text":"done"}
`, args: []string{"--mode", "edits"}})
	s := c.open()
	c.stop(c.prompt(s, text("please go")))
	c.end()

	again := start(t, setup{script: `{"text":"more"}` + "\n", home: c.home, dir: c.dir})
	params := object{"sessionId": s, "cwd": c.dir, "mcpServers": []any{}}
	again.must("session/load", params, nil)
	var kinds []string
	for _, u := range again.of(s, "user_message_chunk", "agent_thought_chunk", "agent_message_chunk", "tool_call", "tool_call_update", "plan") {
		kinds = append(kinds, u["sessionUpdate"].(string))
	}
	want := "user_message_chunk agent_thought_chunk agent_message_chunk tool_call tool_call_update tool_call tool_call_update agent_message_chunk plan"
	if got := strings.Join(kinds, " "); got != want {
		t.Errorf("replayed\n%s\nwant\n%s", got, want)
	}
	if got := again.said(s, "user_message_chunk"); got != "please go" {
		t.Errorf("prompt %q", got)
	}
	diff := again.of(s, "tool_call_update")[1]["content"].([]any)[0].(object)
	if diff["type"] != "diff" || diff["newText"] != "one\n" {
		t.Errorf("diff %v", diff)
	}
	if got := again.stop(again.prompt(s, text("go on"))); got != "end_turn" {
		t.Errorf("stop reason %q", got)
	}
	// Resuming replays nothing.
	again.must("session/close", object{"sessionId": s}, nil)
	n := len(again.of(s, "user_message_chunk", "agent_message_chunk"))
	again.must("session/resume", params, nil)
	if m := len(again.of(s, "user_message_chunk", "agent_message_chunk")); m != n {
		t.Errorf("resume replayed %d messages", m-n)
	}
}

func TestSessionsOfTheTerminalAreListedLoadedAndTheOtherWayRound(t *testing.T) {
	c := start(t, setup{script: `{"text":"from the editor"}` + "\n"})
	s := c.open()
	c.stop(c.prompt(s, text("asked in the editor")))
	c.end()

	var out lockedBuffer
	env := map[string]string{"JCODE_HOME": c.home, "HOME": c.home}
	dir := t.TempDir()
	script := dir + "/s.jsonl"
	write(t, script, `{"text":"from the terminal","expect":{"tool_result_contains":""}}`+"\n")
	write(t, script, `{"text":"from the terminal"}`+"\n")
	t.Chdir(c.dir)
	code := cli.Main([]string{"-m", "replay:" + script, "-p", "-c", "asked in the terminal"}, cli.Streams{Streams: console.Streams{
		In: strings.NewReader(""), Out: &out, Err: &out, Getenv: func(k string) string { return env[k] },
	}})
	if code != 0 || !strings.Contains(out.String(), "from the terminal") {
		t.Fatalf("exit %d: %s", code, out.String())
	}

	again := start(t, setup{script: `{"text":"x"}` + "\n", home: c.home, dir: c.dir})
	var list struct {
		Sessions []struct{ SessionID, Title, Cwd, UpdatedAt string }
	}
	again.must("session/list", object{"cwd": c.dir}, &list)
	if len(list.Sessions) != 1 || list.Sessions[0].SessionID != s || list.Sessions[0].Cwd != c.dir || list.Sessions[0].Title == "" {
		t.Fatalf("list %+v", list)
	}
	again.must("session/load", object{"sessionId": s, "cwd": c.dir, "mcpServers": []any{}}, nil)
	if got := again.said(s, "agent_message_chunk"); got != "from the editorfrom the terminal" {
		t.Errorf("answers %q", got)
	}
	again.must("session/delete", object{"sessionId": s}, nil)
	again.must("session/list", object{}, &list)
	if len(list.Sessions) != 0 {
		t.Errorf("deleted, and listed: %+v", list)
	}
}

func TestSessionThatIsOpenElsewhereIsAnErrorThatNamesTheProcess(t *testing.T) {
	t.Parallel()
	c := start(t, setup{script: `{"text":"x"}` + "\n"})
	s := c.open()
	c.stop(c.prompt(s, text("go")))
	other := start(t, setup{script: `{"text":"x"}` + "\n", home: c.home, dir: c.dir})
	a := other.finish(other.begin("session/load", object{"sessionId": s, "cwd": c.dir, "mcpServers": []any{}}))
	if a.err == nil || !strings.Contains(a.err.Message, "open in another jcode (process ") {
		t.Errorf("answer %+v", a)
	}
}

func TestTwoSessionsInTwoFoldersWorkAtTheSameTime(t *testing.T) {
	t.Parallel()
	script := `{"tool_calls":[{"name":"exec","arguments":{"cmd":"touch here; while [ ! -e go ]; do sleep 0.01; done; pwd"}}]}
{"text":"done"}
`
	c := start(t, setup{script: script, args: []string{"--mode", "yolo"}})
	second := start(t, setup{script: script}).dir // any other folder
	a, b := c.open(), c.open(object{"cwd": second})
	first, last := c.prompt(a, text("go")), c.prompt(b, text("go"))
	c.wait("both calls", func() bool {
		n := 0
		for _, u := range c.updates {
			if u.kind == "tool_call" {
				n++
			}
		}
		return n == 2
	})
	write(t, second+"/go", "")
	c.stop(last)
	write(t, c.dir+"/go", "")
	c.stop(first)
	for session, dir := range map[string]string{a: c.dir, b: second} {
		updates := c.of(session, "tool_call_update")
		if got := flat(updates[len(updates)-1]["rawOutput"]); !strings.Contains(got, dir) {
			t.Errorf("the command ran in %s, not in %s", got, dir)
		}
	}
}

func TestModeModelRoleAndEffortAreOptions(t *testing.T) {
	t.Parallel()
	c := start(t, setup{script: writeScript})
	s := c.open()
	set := func(id, value string) map[string]string {
		var out struct {
			ConfigOptions []struct{ ID, CurrentValue string }
		}
		c.must("session/set_config_option", object{"sessionId": s, "configId": id, "value": value}, &out)
		now := map[string]string{}
		for _, o := range out.ConfigOptions {
			now[o.ID] = o.CurrentValue
		}
		return now
	}
	if now := set("mode", "edits"); now["mode"] != "edits" {
		t.Errorf("options %v", now)
	}
	if now := set("effort", "high"); now["effort"] != "high" {
		t.Errorf("options %v", now)
	}
	if now := set("role", "reviewer"); now["role"] != "reviewer" {
		t.Errorf("options %v", now)
	}
	if now := set("role", "none"); now["role"] != "none" {
		t.Errorf("options %v", now)
	}
	c.wait("the update of the mode", func() bool { return has(c.updates, "current_mode_update") && has(c.updates, "config_option_update") })
	if got := c.stop(c.prompt(s, text("go"))); got != "end_turn" || read(t, c.dir+"/a.txt") == "" {
		t.Errorf("in mode edits a write needs no question; stop reason %q", got)
	}
	c.must("session/set_mode", object{"sessionId": s, "modeId": "plan"}, nil)
	for _, bad := range []object{
		{"sessionId": s, "configId": "mode", "value": "reckless"},
		{"sessionId": s, "configId": "colour", "value": "red"},
		{"sessionId": s, "configId": "role", "value": "nobody"},
	} {
		if a := c.finish(c.begin("session/set_config_option", bad)); a.err == nil || a.err.Code != -32602 {
			t.Errorf("%v: answer %+v", bad, a)
		}
	}
}

func TestARoleAsksForItsValuesInAFormOrSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	const ticket = "---\ndescription: Works on a ticket\nvariables:\n  - {name: id, description: the ticket}\n---\nWork on {{id}}."
	for name, test := range map[string]struct {
		caps   object
		answer any
		err    string
	}{
		"form":     {caps: object{"elicitation": object{"form": object{}}}, answer: object{"action": "accept", "content": object{"id": "ABC-7"}}},
		"declined": {caps: object{"elicitation": object{"form": object{}}}, answer: object{"action": "decline"}, err: "needs 1 value: id (the ticket)"},
		"blank":    {caps: object{"elicitation": object{"form": object{}}}, answer: object{"action": "cancel"}, err: "taken back"},
		"no forms": {err: "needs 1 value: id (the ticket)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			write(t, filepath.Join(home, "roles", "ticket.md"), ticket)
			c := start(t, setup{home: home, caps: test.caps, script: `{"text":"hi"}` + "\n"})
			c.on("elicitation/create", func(request) any { return test.answer })
			s := c.open()
			a := c.finish(c.begin("session/set_config_option", object{"sessionId": s, "configId": "role", "value": "ticket"}))
			switch {
			case test.err == "" && a.err != nil:
				t.Error(a.err)
			case test.err != "" && (a.err == nil || !strings.Contains(a.err.Message, test.err)):
				t.Errorf("answer %+v, want %q", a, test.err)
			case test.err == "":
				c.stop(c.prompt(s, text("/role info")))
				if got := flat(c.of(s, "agent_message_chunk")); !strings.Contains(got, "id (the ticket) = ABC-7") {
					t.Errorf("/role info says %s", got)
				}
			}
		})
	}
}

func TestAPrivateSessionOfAnEditorIsNotKeptUnlessItIsSaved(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	c := start(t, setup{home: home, args: []string{"--private"}, script: `{"text":"a pelican"}` + "\n" + `{"text":"two"}` + "\n"})
	s := c.open()
	c.stop(c.prompt(s, text("remember the pelican")))
	var list struct{ Sessions []any }
	c.must("session/list", object{}, &list)
	if len(list.Sessions) != 0 {
		t.Errorf("listed: %v", list.Sessions)
	}
	c.stop(c.prompt(s, text("/save")))
	if got := flat(c.of(s, "agent_message_chunk")); !strings.Contains(got, "Saved from the beginning") {
		t.Errorf("/save says %s", got)
	}
	c.must("session/list", object{}, &list)
	if len(list.Sessions) != 1 {
		t.Errorf("listed after /save: %v", list.Sessions)
	}
}
