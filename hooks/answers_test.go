package hooks_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"jcode/hooks"
)

// TestEveryAnswerMeansWhatItsEventAllows checks each form of an answer with each event.
func TestEveryAnswerMeansWhatItsEventAllows(t *testing.T) {
	t.Parallel()
	can := []hooks.Event{hooks.PreToolUse, hooks.PostToolUse, hooks.UserPromptSubmit, hooks.Stop, hooks.SubagentStop, hooks.PreCompact}
	tells := []hooks.Event{hooks.UserPromptSubmit, hooks.SessionStart}
	for _, event := range hooks.Events() {
		blocks, called, plain := slices.Contains(can, event), event == hooks.PreToolUse, slices.Contains(tells, event)
		told := func(s string) string {
			if plain {
				return s
			}
			return ""
		}
		why := func(yes bool) string {
			if yes {
				return "why"
			}
			return ""
		}
		vain := func(effect bool) string { return map[bool]string{false: "has no effect"}[effect] }
		for _, c := range []struct {
			name string
			end  hooks.Ended
			want hooks.Outcome
			said string // to the person
		}{
			{"nothing", hooks.Ended{}, hooks.Outcome{}, ""},
			{"text", hooks.Ended{Stdout: "news\n"}, hooks.Outcome{Context: told("news")}, ""},
			{"exit code 2", hooks.Ended{Code: 2, Stderr: "why\n"}, hooks.Outcome{Block: blocks, Reason: why(blocks)}, map[bool]string{false: "info why"}[blocks]},
			{"block", hooks.Ended{Stdout: `{"decision":"block","reason":"why"}`}, hooks.Outcome{Block: blocks, Reason: why(blocks)}, vain(blocks)},
			{"approve", hooks.Ended{Stdout: `{"decision":"approve","reason":"why"}`}, hooks.Outcome{}, ""},
			{"deny", hooks.Ended{Stdout: `{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"why"}}`}, hooks.Outcome{Block: blocks, Reason: why(blocks)}, vain(blocks)},
			{"ask", hooks.Ended{Stdout: `{"hookSpecificOutput":{"permissionDecision":"ask","permissionDecisionReason":"why"}}`}, hooks.Outcome{Ask: called, Reason: why(called)}, vain(called)},
			{"allow", hooks.Ended{Stdout: `{"hookSpecificOutput":{"permissionDecision":"allow","permissionDecisionReason":"why"}}`}, hooks.Outcome{}, ""},
			{"stop", hooks.Ended{Stdout: `{"continue":false,"stopReason":"why"}`}, hooks.Outcome{Stop: true, StopReason: "why"}, ""},
			{"go on", hooks.Ended{Stdout: `{"continue":true,"suppressOutput":true}`}, hooks.Outcome{}, ""},
			{"context", hooks.Ended{Stdout: `{"hookSpecificOutput":{"additionalContext":"news"}}`}, hooks.Outcome{Context: "news"}, ""},
			{"context after lines of a shell", hooks.Ended{Stdout: "Welcome to {this} shell\n\ufeff{\"hookSpecificOutput\":\n{\"additionalContext\":\"news\"}}\n"}, hooks.Outcome{Context: "news"}, ""},
			{"context behind a byte order mark", hooks.Ended{Stdout: "\ufeff{\"hookSpecificOutput\":{\"additionalContext\":\"news\"}}"}, hooks.Outcome{Context: "news"}, ""},
			{"message", hooks.Ended{Stdout: `{"systemMessage":"hello"}`}, hooks.Outcome{}, "info hello"},
			{"unknown", hooks.Ended{Stdout: `{"decision":"perhaps"}`}, hooks.Outcome{}, `decision "perhaps" is unknown; known: allow, ask, deny, block`},
		} {
			e, _, said := engine(t, fmt.Sprintf(`{%q:[{"hooks":[{"command":"c"}]}]}`, event), map[string]hooks.Ended{"c": c.end})
			got := e.Fire(t.Context(), hooks.Occasion{Event: event, Session: "s"})
			by := got.By
			got.By = ""
			if fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Errorf("%s, %s: %+v, want %+v", event, c.name, got, c.want)
			}
			if (got.Block || got.Ask || got.Stop) != (by != "") {
				t.Errorf("%s, %s: attributed to %q", event, c.name, by)
			}
			if c.said == "" && len(*said) > 0 || c.said != "" && (len(*said) != 1 || !strings.Contains((*said)[0], c.said)) {
				t.Errorf("%s, %s: the person is told %q, want %q", event, c.name, *said, c.said)
			}
		}
		e, _, _ := engine(t, fmt.Sprintf(`{%q:[{"hooks":[{"command":"c"}]}]}`, event), map[string]hooks.Ended{"c": {Stdout: `{"hookSpecificOutput":{"updatedInput":{"command":"x"}}}`}})
		if out := e.Fire(t.Context(), hooks.Occasion{Event: event}); (out.Input != nil) != called {
			t.Errorf("%s: the input is changed: %v, want %v", event, out.Input != nil, called)
		}
	}
}
