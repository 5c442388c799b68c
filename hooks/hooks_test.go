package hooks_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"jcode/hooks"
	"jcode/internal/testkit/eventually"
	"jcode/tools"
)

// runner returns a fixed result for each command, without a process.
type runner struct {
	mu  sync.Mutex
	ran []hooks.Run
	end map[string]hooks.Ended
}

func (r *runner) RunHook(ctx context.Context, run hooks.Run) (hooks.Ended, error) {
	r.mu.Lock()
	r.ran = append(r.ran, run)
	r.mu.Unlock()
	switch run.Hook.Command {
	case "hang":
		<-ctx.Done()
		return hooks.Ended{}, ctx.Err()
	case "late":
		return hooks.Ended{}, errors.New("did not end within 1s and was ended")
	}
	return r.end[run.Hook.Command], nil
}

func (r *runner) commands() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []string
	for _, run := range r.ran {
		out = append(out, run.Hook.Command)
	}
	slices.Sort(out)
	return out
}

func engine(t *testing.T, settings string, end map[string]hooks.Ended) (*hooks.Engine, *runner, *[]string) {
	t.Helper()
	list, problems := hooks.Parse(json.RawMessage(settings), "settings.json")
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	r, said := &runner{end: end}, &[]string{}
	var mu sync.Mutex
	e := hooks.New(hooks.Options{Runner: r, Root: "/w", Cwd: "/w", Mode: func() string { return "edits" }, Notice: func(level, text string) {
		mu.Lock()
		defer mu.Unlock()
		*said = append(*said, level+" "+text)
	}})
	e.Set(list)
	return e, r, said
}

func TestMatchersKnowOurNamesAndTheirs(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		matcher, tool string
		want          bool
	}{
		{"Bash", "exec", true},
		{"exec", "exec", true},
		{"Edit|Write", "write", true},
		{"Edit|Write", "edit", true},
		{"Edit|Write", "apply_patch", true},
		{"apply_patch", "apply_patch", true},
		{"Bash", "apply_patch", false},
		{"Edit", "read", false},
		{"Write", "write", true},
		{"Read", "read", true},
		{"Grep", "grep", true},
		{"Glob", "glob", true},
		{"WebFetch", "fetch", true},
		{"Task", "task", true},
		{"", "read", true},
		{"*", "read", true},
		{".*", "read", true},
		{"Ba", "exec", false},
		{"bash", "exec", false},
		{"mcp__memory__.*", "mcp:memory:add", true},
		{"mcp:memory:add", "mcp:memory:add", true},
		{"mcp__.*", "exec", false},
	} {
		e, r, _ := engine(t, fmt.Sprintf(`{"PreToolUse":[{"matcher":%q,"hooks":[{"command":"c"}]}]}`, tc.matcher), nil)
		hooks.Calls{Engine: e}.BeforeCall(t.Context(), tools.Call{Name: tc.tool, Arguments: json.RawMessage(`{}`)})
		if got := len(r.commands()) == 1; got != tc.want {
			t.Errorf("matcher %q and tool %s: ran %v", tc.matcher, tc.tool, got)
		}
	}
}

func TestArgumentsComeBackFromEitherSpelling(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ tool, args, updated, want string }{
		{"exec", `{"cmd":"a"}`, `{"command":"b"}`, `{"cmd":"b"}`},
		{"exec", `{"cmd":"a"}`, `{"cmd":"b"}`, `{"cmd":"b"}`},
		{"exec", `{"cmd":"a"}`, `{"cmd":"a","command":"b"}`, `{"cmd":"b"}`},
		{"exec", `{"cmd":"a"}`, `{"cmd":"b","command":"a"}`, `{"cmd":"b"}`},
		{"exec", `{"cmd":"a","dir":"d"}`, `{"command":"b","dir":"d"}`, `{"cmd":"b","dir":"d"}`},
		{"write", `{"path":"a","content":"x"}`, `{"file_path":"b","content":"x"}`, `{"content":"x","path":"b"}`},
		{"grep", `{"pattern":"a","path":"p"}`, `{"pattern":"b","path":"p"}`, `{"path":"p","pattern":"b"}`},
	} {
		out := fmt.Sprintf(`{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":%s}}`, tc.updated)
		e, _, _ := engine(t, `{"PreToolUse":[{"hooks":[{"command":"c"}]}]}`, map[string]hooks.Ended{"c": {Stdout: out}})
		v := hooks.Calls{Engine: e}.BeforeCall(t.Context(), tools.Call{Name: tc.tool, Arguments: json.RawMessage(tc.args)})
		if string(v.Arguments) != tc.want || v.By == "" {
			t.Errorf("%s %s: %s, want %s", tc.tool, tc.updated, v.Arguments, tc.want)
		}
	}
}

func TestAPatchIsShownToHooksFileByFile(t *testing.T) {
	t.Parallel()
	e, r, _ := engine(t, `{"PreToolUse":[{"matcher":"Edit","hooks":[{"command":"c"}]}],"PostToolUse":[{"matcher":"Write","hooks":[{"command":"d"}]}]}`,
		map[string]hooks.Ended{"c": {Stdout: `{"hookSpecificOutput":{"updatedInput":{"file_path":"a","input":"other"}}}`}})
	args, err := json.Marshal(map[string]string{"input": "*** Begin Patch\n*** Update File: a\n*** Move to: b/c\n@@\n-x\n+y\n*** Delete File: d e\n*** Delete File: a\n*** End Patch"})
	if err != nil {
		t.Fatal(err)
	}
	call := tools.Call{Name: "apply_patch", Arguments: args}
	v := hooks.Calls{Engine: e}.BeforeCall(t.Context(), call)
	if string(v.Arguments) != `{"input":"other"}` {
		t.Errorf("%s", v.Arguments)
	}
	hooks.Calls{Engine: e}.AfterRun(t.Context(), call, &tools.Result{Text: "done"})
	var seen []string
	for _, run := range r.ran {
		var in struct {
			Event string `json:"hook_event_name"`
			Input struct {
				Path  string `json:"file_path"`
				Input string `json:"input"`
			} `json:"tool_input"`
		}
		if err := json.Unmarshal(run.Stdin, &in); err != nil || !strings.Contains(in.Input.Input, "Begin Patch") {
			t.Fatalf("%s %v", run.Stdin, err)
		}
		seen = append(seen, in.Event+" "+in.Input.Path)
	}
	if want := []string{"PreToolUse /w/a", "PreToolUse /w/b/c", "PreToolUse /w/d e", "PostToolUse /w/a", "PostToolUse /w/b/c", "PostToolUse /w/d e"}; !slices.Equal(seen, want) {
		t.Errorf("%q, want %q", seen, want)
	}
}

func TestHooksOfOneEventRunOnceAndTheFirstThatBlocksWins(t *testing.T) {
	t.Parallel()
	e, r, _ := engine(t, `{"PreToolUse":[
		{"matcher":"Bash","hooks":[{"command":"ok"},{"command":"no"}]},
		{"hooks":[{"command":"ok"},{"command":"never"},{"command":"more"}]}]}`,
		map[string]hooks.Ended{
			"no": {Code: 2, Stderr: "first"}, "never": {Code: 2, Stderr: "second"},
			"more": {Stdout: `{"hookSpecificOutput":{"additionalContext":"told"}}`},
		})
	v := hooks.Calls{Engine: e}.BeforeCall(t.Context(), tools.Call{Name: "exec", Arguments: json.RawMessage(`{"cmd":"x"}`)})
	if v.Refuse != "first" || !strings.Contains(v.By, `"no"`) || v.Context != "told" {
		t.Errorf("%+v", v)
	}
	if got := r.commands(); !slices.Equal(got, []string{"more", "never", "no", "ok"}) {
		t.Errorf("%q", got)
	}
}

func TestAHookRunsForTheCallsAndAsOftenAsItSays(t *testing.T) {
	t.Parallel()
	list, problems := hooks.Parse(json.RawMessage(`{"PreToolUse":[{"hooks":[
		{"command":"pushes","if":"Bash(git push *)"},{"command":"odd","if":"Bash("},{"command":"first","once":true},{"command":"hang","async":true},
		{"command":"objects","asyncRewake":true,"rewakeMessage":"look:"}]}]}`), "settings.json")
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	r := &runner{end: map[string]hooks.Ended{"objects": {Code: 2, Stderr: "not so"}}}
	ctx, cancel := context.WithCancel(t.Context())
	var behind sync.WaitGroup
	var told, said []string
	var mu sync.Mutex
	e := hooks.New(hooks.Options{
		Runner: r, Root: "/w", Cwd: "/w",
		Covers: func(rule string, call tools.Call) (bool, error) {
			if rule == "Bash(" {
				return false, errors.New("no rule")
			}
			return strings.Contains(string(call.Arguments), "git push"), nil
		},
		Background: func(run func(ctx context.Context)) { behind.Go(func() { run(ctx) }) },
		Later: func(session, text string) {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, session+" "+text)
		},
		Notice: func(_, text string) { said = append(said, text) },
	})
	e.Set(list)
	reported := func() int {
		mu.Lock()
		defer mu.Unlock()
		return len(told)
	}
	fire := func(session, cmd string) {
		call := tools.Call{Name: "exec", Arguments: json.RawMessage(fmt.Sprintf(`{"cmd":%q}`, cmd))}
		if out := e.Fire(t.Context(), hooks.Occasion{Event: hooks.PreToolUse, Session: session, Call: &call}); out.Block {
			t.Errorf("%+v", out)
		}
	}
	fire("one", "ls")
	fire("one", "git push origin")
	fire("two", "ls")
	eventually.True(t, "three are reported", func() bool { return reported() >= 3 })
	cancel() // nothing has waited for the one that hangs
	behind.Wait()
	count := map[string]int{}
	for _, c := range r.commands() {
		count[c]++
	}
	if fmt.Sprint(count) != "map[first:2 hang:3 objects:3 pushes:1]" {
		t.Errorf("%v", count)
	}
	slices.Sort(told)
	if !slices.Equal(told, []string{"one look:\nnot so", "one look:\nnot so", "two look:\nnot so"}) || len(said) != 3 || !strings.Contains(said[0], "was not run: if: no rule") {
		t.Errorf("%q %q", told, said)
	}
}

func TestAnAllowOfAHookSaysNothing(t *testing.T) {
	t.Parallel()
	for _, out := range []string{`{"decision":"approve"}`, `{"hookSpecificOutput":{"permissionDecision":"allow"}}`, `allow`, ``} {
		e, _, said := engine(t, `{"PreToolUse":[{"hooks":[{"command":"c"}]}]}`, map[string]hooks.Ended{"c": {Stdout: out}})
		v := hooks.Calls{Engine: e}.BeforeCall(t.Context(), tools.Call{Name: "exec", Arguments: json.RawMessage(`{}`)})
		if v.Refuse != "" || v.Ask || v.Arguments != nil || v.Context != "" || len(*said) > 0 {
			t.Errorf("%s: %+v %q", out, v, *said)
		}
	}
}

func TestExitCodesMeanWhatTheEventAllows(t *testing.T) {
	t.Parallel()
	for _, event := range hooks.Events() {
		e, r, said := engine(t, fmt.Sprintf(`{%q:[{"hooks":[{"command":"c"}]}]}`, event), map[string]hooks.Ended{"c": {Code: 2, Stderr: "why"}})
		out := e.Fire(t.Context(), hooks.Occasion{Event: event, Session: "s"})
		blocks := event != hooks.PostToolUseFailure && event != hooks.SessionStart && event != hooks.SessionEnd && event != hooks.Notification
		if out.Block != blocks || blocks && out.Reason != "why" || !blocks && !slices.Equal(*said, []string{"info why"}) {
			t.Errorf("%s: %+v %q", event, out, *said)
		}
		var in map[string]any
		if err := json.Unmarshal(r.ran[0].Stdin, &in); err != nil || in["hook_event_name"] != string(event) || in["session_id"] != "s" || in["cwd"] != "/w" || in["permission_mode"] != "acceptEdits" {
			t.Errorf("%v %s", err, r.ran[0].Stdin)
		}
	}
}

func TestAHookThatFailsIsSaidAndHoldsNothingUp(t *testing.T) {
	t.Parallel()
	junk := map[string]hooks.Ended{
		"died": {Code: 7, Stderr: "boom\nmore"}, "junk": {Stdout: `{"a":`}, "types": {Stdout: `{"decision":[1]}`}, "noise": {Stdout: "plain text"},
		"input": {Stdout: `{"updatedInput":[1]}`}, "escape": {Stdout: "{\"systemMessage\":\"\\u001b[31mred\"}"},
	}
	e, _, said := engine(t, `{"PreToolUse":[{"hooks":[{"command":"died"},{"command":"junk"},{"command":"types"},{"command":"noise"},{"command":"input"},{"command":"late"},{"command":"escape"}]}]}`, junk)
	v := hooks.Calls{Engine: e}.BeforeCall(t.Context(), tools.Call{Name: "exec", Arguments: json.RawMessage(`{}`)})
	if v.Refuse != "" || v.Arguments != nil {
		t.Errorf("%+v", v)
	}
	all := strings.Join(*said, "\n")
	for _, want := range []string{"exit code 7: boom", "not usable JSON", "did not end within 1s", "updatedInput must be an object", "info red"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is missing in\n%s", want, all)
		}
	}
	if len(*said) != 6 || strings.ContainsRune(all, 0x1b) || strings.Contains(all, "Go struct") {
		t.Errorf("%q", *said)
	}
}

func TestAnInterruptEndsTheWaitForAHook(t *testing.T) {
	t.Parallel()
	e, _, said := engine(t, `{"Stop":[{"hooks":[{"command":"hang"}]}]}`, nil)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(10*time.Millisecond, cancel)
	if out := e.Fire(ctx, hooks.Occasion{Event: hooks.Stop}); out.Block || len(*said) > 0 {
		t.Errorf("%+v %q", out, *said)
	}
}

func TestWhatASettingsFileGetsWrongIsNamed(t *testing.T) {
	t.Parallel()
	list, problems := hooks.Parse(json.RawMessage(`{"Stop":[{"hooks":[{"type":"prompt","prompt":"x"},{"type":"command"},{"command":"ok","timeout":"x"},{"command":"good","timeout":9999}]}],
		"PreToolUse":[{"matcher":"(","hooks":[{"command":"x"}]}],"Wrong":[],"SessionEnd":{"a":1}}`), "f.json")
	if len(list) != 1 || list[0].Command != "good" || list[0].Timeout != hooks.MaxTimeout {
		t.Errorf("%+v", list)
	}
	all := strings.Join(problems, "\n")
	for _, want := range []string{`type "prompt" does not run here`, "command is missing", "timeout:", "matcher \"(\" is not a regular expression", "Wrong is not an event", "SessionEnd must be a list"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is missing in\n%s", want, all)
		}
	}
	if strings.Contains(all, "Go ") || strings.Contains(all, "[]struct") {
		t.Errorf("a Go type in\n%s", all)
	}
}
