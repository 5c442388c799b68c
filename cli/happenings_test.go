//go:build linux || darwin

package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"jcode/agent"
	"jcode/cli/board"
	"jcode/cli/console"
	"jcode/hooks"
	"jcode/internal/testkit/eventually"
	"jcode/tools"
)

// hooked is an app with the same hooks for every event.
func hooked(t *testing.T, line func(event hooks.Event) []hooks.Command) *app {
	t.Helper()
	home, dir := t.TempDir(), t.TempDir()
	events := map[string][]hooks.Group{}
	for _, event := range hooks.Events() {
		events[string(event)] = []hooks.Group{{Hooks: line(event)}}
	}
	conf, err := json.Marshal(map[string]any{"hooks": events})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, "config.json"), conf, 0o600); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"HOME": home, "JCODE_HOME": home, "PATH": os.Getenv("PATH")}
	f := &flags{OutputFormat: "text", Mode: "yolo"}
	a, err := newAppIn(t.Context(), f, Streams{Streams: console.Streams{Out: io.Discard, Err: io.Discard, Getenv: func(name string) string { return env[name] }}}, dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.close)
	return a
}

// occur triggers each event once, and returns what was blocked.
func occur(ctx context.Context, a *app) (held []string) {
	h, calls := a.userHooks, a.userHooks.Calls().(hooks.Calls)
	own := h.Extension().Own
	hold := func(event hooks.Event, what string) {
		if what != "" {
			held = append(held, string(event)+": "+what)
		}
	}
	if told, err := own.Admit(ctx, "s", "do it"); err != nil { // SessionStart, too
		hold(hooks.UserPromptSubmit, err.Error())
	} else if len(told) > 3*16<<10 {
		hold(hooks.UserPromptSubmit, fmt.Sprintf("the model is told %d bytes", len(told)))
	}
	if told := own.Before(ctx, "s").Text; len(told) > 3*16<<10 {
		hold(hooks.SessionStart, fmt.Sprintf("the model is told %d bytes", len(told)))
	}
	call := tools.Call{ID: "c", Name: "exec", Arguments: json.RawMessage(`{"cmd":"x"}`), Caller: tools.Caller{Session: "s"}}
	v := calls.BeforeCall(ctx, call)
	hold(hooks.PreToolUse, v.Refuse+string(v.Arguments))
	hold(hooks.PostToolUse, calls.AfterRun(ctx, call, &tools.Result{Text: "ran"}))
	hold(hooks.PostToolUseFailure, calls.AfterRun(ctx, call, &tools.Result{Text: "no such file", Failed: true}))
	hold(hooks.Stop, own.Stopping(ctx, agent.Stop{Session: "s", Text: "Done."}))
	hold(hooks.SubagentStop, own.Stopping(ctx, agent.Stop{Session: "child", Child: true, Again: true, Text: "Found."}))
	if err := own.Compacting(ctx, "s", true, "keep names"); err != nil {
		hold(hooks.PreCompact, err.Error())
	}
	h.Tell("s", "permission_prompt", "jcode asks: run x")
	h.SessionsEnd()
	return held
}

func TestEveryEventSaysWhatClaudeCodeSays(t *testing.T) {
	t.Parallel()
	a := hooked(t, func(event hooks.Event) []hooks.Command {
		return []hooks.Command{{Command: `cat > "$CLAUDE_PROJECT_DIR/` + string(event) + `.json"`}}
	})
	if held := occur(t.Context(), a); held != nil {
		t.Error(held)
	}
	common := map[string]any{"session_id": "s", "cwd": a.cwd, "transcript_path": "", "permission_mode": "bypassPermissions", "jcode_mode": "yolo"}
	input := map[string]any{"cmd": "x", "command": "x"}
	for event, want := range map[hooks.Event]map[string]any{
		hooks.PreToolUse:         {"tool_name": "Bash", "jcode_tool": "exec", "tool_use_id": "c", "tool_input": input},
		hooks.PostToolUse:        {"tool_name": "Bash", "jcode_tool": "exec", "tool_use_id": "c", "tool_input": input, "tool_response": map[string]any{"content": "ran", "is_error": false, "stdout": "ran", "stderr": "", "interrupted": false, "isImage": false}},
		hooks.PostToolUseFailure: {"tool_name": "Bash", "jcode_tool": "exec", "tool_use_id": "c", "tool_input": input, "error": "no such file", "is_interrupt": false},
		hooks.UserPromptSubmit:   {"prompt": "do it"},
		hooks.Stop:               {"stop_hook_active": false, "last_assistant_message": "Done."},
		hooks.SubagentStop:       {"stop_hook_active": true, "last_assistant_message": "Found.", "session_id": "child", "agent_id": "child"},
		hooks.SessionStart:       {"source": "startup"},
		hooks.SessionEnd:         {"reason": "prompt_input_exit"},
		hooks.PreCompact:         {"trigger": "manual", "custom_instructions": "keep names"},
		hooks.Notification:       {"notification_type": "permission_prompt", "message": "jcode asks: run x"},
	} {
		data, err := os.ReadFile(filepath.Join(a.cwd, string(event)+".json"))
		var got map[string]any
		if err == nil {
			err = json.Unmarshal(data, &got)
		}
		if err != nil {
			t.Errorf("%s: %v", event, err)
			continue
		}
		all := map[string]any{"hook_event_name": string(event)}
		for _, fields := range []map[string]any{common, want} {
			for k, v := range fields {
				all[k] = v
			}
		}
		if was, is := fmt.Sprint(all), fmt.Sprint(got); was != is {
			t.Errorf("%s\n got %s\nwant %s", event, is, was)
		}
	}
}

func TestContextOfSessionHooksThatWereInterruptedIsToldOnce(t *testing.T) {
	t.Parallel()
	a := hooked(t, func(event hooks.Event) []hooks.Command {
		if event != hooks.SessionStart {
			return []hooks.Command{{Command: "true"}}
		}
		return []hooks.Command{
			{Command: `echo '{"systemMessage": "noticed", "hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "use tabs"}}'`},
			{Command: `while ! test -e "$CLAUDE_PROJECT_DIR/go"; do sleep 0.05; done`},
		}
	})
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	a.board.Aside(func(n board.Notice) { // the first hook has ended, the second one runs
		if strings.Contains(n.Text, "noticed") {
			interrupt()
		}
	})
	if _, err := a.userHooks.Extension().Own.Admit(ctx, "s", "first"); !errors.Is(err, context.Canceled) {
		t.Fatalf("an interrupted prompt: %v", err)
	}
	if err := os.WriteFile(filepath.Join(a.cwd, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := a.userHooks.Extension().Own.Admit(t.Context(), "s", "again"); err != nil {
		t.Fatal(err)
	}
	if got := a.userHooks.Extension().Own.Before(t.Context(), "s").Text; got != "[SessionStart hook] use tabs\n" {
		t.Errorf("the model is told %q", got)
	}
}

// Whatever a hook makes of the file for variables, the prompt goes on, nothing runs or is read that is not in it, and
// the variables of other hooks are set.
func TestNoFormOfTheFileOfVariablesHarms(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		`ln -s /etc/passwd "$CLAUDE_ENV_FILE"`, `ln -s /dev/zero "$CLAUDE_ENV_FILE"`, `mkfifo "$CLAUDE_ENV_FILE"`, `mkdir "$CLAUDE_ENV_FILE"`, `head -c 1000000 /dev/zero > "$CLAUDE_ENV_FILE"`,
		`yes export A=1 | head -c 900000 > "$CLAUDE_ENV_FILE"`, `printf 'export A=1\000B=2\n' > "$CLAUDE_ENV_FILE"`, `rm -rf "$(dirname "$CLAUDE_ENV_FILE")"`, `printf 'export A=\377\376\n' > "$CLAUDE_ENV_FILE"`,
		`echo 'A=1; touch ran; A=$(touch ran) touch ran' > "$CLAUDE_ENV_FILE"`, `echo 'export A="$(touch ran)" B="$((1+$(touch ran)))"' > "$CLAUDE_ENV_FILE"`, `d=$(dirname "$CLAUDE_ENV_FILE"); mv "$d" "$d.x"; ln -s /etc "$d"`,
		`echo 'eval touch ran' > "$CLAUDE_ENV_FILE"`, `echo 'export FINE=no' > "$CLAUDE_ENV_FILE"; exit 1`, `echo 'export LD_PRELOAD=x GIT_DIR=y ENV=z BASH_ENV=z' > "$CLAUDE_ENV_FILE"`, `chmod 000 "$(dirname "$CLAUDE_ENV_FILE")"`,
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			a := hooked(t, func(event hooks.Event) []hooks.Command {
				if event != hooks.SessionStart {
					return nil
				}
				return []hooks.Command{{Command: line}, {Command: `echo 'export FINE=yes' > "$CLAUDE_ENV_FILE"`}}
			})
			if _, err := a.userHooks.Extension().Own.Admit(t.Context(), "s", "go"); err != nil {
				t.Fatal(err)
			}
			got := a.hookVariables.ForCommand(tools.Caller{Session: "s"}, true)
			if !slices.Contains(got, "FINE=yes") || slices.Contains(got, "FINE=no") || strings.Contains(strings.Join(got, " "), "LD_PRELOAD") || strings.Contains(strings.Join(got, " "), "root") {
				t.Errorf("set: %.200q", got)
			}
			if _, err := os.Stat(filepath.Join(a.cwd, "ran")); err == nil {
				t.Error("the file was run")
			}
			if other := a.hookVariables.ForCommand(tools.Caller{Session: "other"}, true); len(other) > 0 {
				t.Errorf("another session has %q", other)
			}
			if child := a.hookVariables.ForCommand(tools.Caller{Session: "child", Root: "s"}, false); !slices.Contains(child, "FINE=yes") {
				t.Errorf("a sub-agent has %q", child)
			}
		})
	}
}

// TestNoEventFailsForAHookThatMisbehaves: for each event, one hook hangs with a child, one floods both streams,
// one dies from a signal, one prints junk, one prints a huge answer, and one is not a program.
func TestNoEventFailsForAHookThatMisbehaves(t *testing.T) {
	t.Parallel()
	script := filepath.Join(t.TempDir(), "hook.sh")
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho ran\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	a := hooked(t, func(event hooks.Event) []hooks.Command {
		pid := `"$CLAUDE_PROJECT_DIR/` + string(event) + `.pid"`
		return []hooks.Command{
			{Command: "trap '' TERM; sleep 600 & echo $! > " + pid + "; wait; wait", Timeout: 0.5},
			{Command: "yes flood | head -c 3000000 >&2; yes flood | head -c 3000000"},
			{Command: "kill -9 $$"},
			{Command: `printf '{\000\377\033[31m['`},
			{Command: `printf '{"systemMessage":"'; head -c 900000 /dev/zero | tr '\0' a; printf '"}'`},
			{Command: script},
		}
	})
	done := make(chan []string, 1)
	go func() { done <- occur(context.Background(), a) }()
	select {
	case held := <-done:
		if held != nil {
			t.Errorf("held back: %.2000s", strings.Join(held, "\n"))
		}
	case <-time.After(2 * time.Minute):
		t.Fatal("the hooks hold the program up")
	}
	var said []string
	var mu sync.Mutex
	a.board.Aside(func(n board.Notice) {
		mu.Lock()
		defer mu.Unlock()
		said = append(said, n.Text)
	})
	mu.Lock()
	defer mu.Unlock()
	all := strings.Join(said, "\n")
	for _, event := range hooks.Events() {
		for _, fault := range []string{"did not end within", "signal", "not usable JSON", "at most 512 are read", "it could not be started: "} {
			if !slices.ContainsFunc(said, func(line string) bool {
				return strings.HasPrefix(line, string(event)+" hook") && strings.Contains(line, fault)
			}) {
				t.Errorf("%s: nothing says %q", event, fault)
			}
		}
		data, err := os.ReadFile(filepath.Join(a.cwd, string(event)+".pid"))
		if err != nil {
			t.Error(err)
			continue
		}
		var pid int
		if _, err := fmt.Sscan(string(data), &pid); err != nil {
			t.Error(err)
			continue
		}
		if !eventually.Holds(30*time.Second, func() bool { return syscall.Kill(pid, 0) != nil }) {
			t.Errorf("%s: the child of a hook lives on", event)
		}
	}
	if len(all) > 200<<10 || strings.Contains(all, "\x1b") {
		t.Errorf("the person is told %d bytes, or is sent codes", len(all))
	}
}
