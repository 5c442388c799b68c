package acp_test

import (
	"path/filepath"
	"strings"
	"testing"
)

// Single hunks of a change are taken in an editor that shows forms. Anything but a clear choice is a no, and an editor
// without forms is offered no such answer.
func TestSingleHunksAreTakenInAForm(t *testing.T) {
	t.Parallel()
	before := "one\n" + strings.Repeat("same\n", 20) + "two\n"
	form := object{"elicitation": object{"form": object{}}}
	accept := func(content object) any { return object{"action": "accept", "content": content} }
	for name, test := range map[string]struct {
		caps   object
		answer any
		want   string // the words of the file
	}{
		"one":           {form, accept(object{"hunks": []string{"2: list.txt line 22 +1 -1"}}), "one dos"},
		"all":           {form, accept(object{"hunks": []string{"1: list.txt line 1 +1 -1", "2: list.txt line 22 +1 -1"}}), "uno dos"},
		"none":          {form, accept(object{"hunks": []string{}}), "one two"},
		"another":       {form, accept(object{"hunks": []string{"3: list.txt line 30 +1 -1"}}), "one two"},
		"declined":      {form, object{"action": "decline"}, "one two"},
		"without forms": {nil, nil, "uno dos"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := start(t, setup{caps: test.caps, script: `{"tool_calls":[{"name":"edit","arguments":{"path":"list.txt","edits":[{"old_string":"one","new_string":"uno"},{"old_string":"two","new_string":"dos"}]}}]}
{"text":"done"}
`})
			file := filepath.Join(c.dir, "list.txt")
			write(t, file, before)
			c.on("elicitation/create", func(request) any { return test.answer })
			c.on("session/request_permission", func(r request) any {
				some := ""
				for _, o := range r.Params["options"].([]any) {
					if o := o.(object); strings.Contains(o["name"].(string), "hunks") {
						some = o["optionId"].(string)
					}
				}
				if (some != "") != (test.caps != nil) {
					t.Errorf("options %v", r.Params["options"])
				}
				if some == "" {
					return choose("allow_once")(r)
				}
				return object{"outcome": object{"outcome": "selected", "optionId": some}}
			})
			if got := c.stop(c.prompt(c.open(), text("go"))); got != "end_turn" {
				t.Errorf("stop reason %q", got)
			}
			if got := strings.ReplaceAll(read(t, file), "same\n", ""); strings.Join(strings.Fields(got), " ") != test.want {
				t.Errorf("the file holds %q", got)
			}
		})
	}
}
