package cli

import (
	"bytes"
	"strings"
	"testing"

	"jcode/cli/console"
	"jcode/cli/manual"
)

// The manual is in the program: a page, a section, and what fits words; a sentence that begins with help is a prompt.
func TestTheManualIsReadInTheProgram(t *testing.T) {
	t.Parallel()
	help := func(words ...string) (string, error) {
		var out, errs bytes.Buffer
		err := run(t.Context(), append([]string{"help"}, words...), Streams{Streams: console.Streams{Out: &out, Err: &errs, Getenv: func(string) string { return "" }}})
		return out.String(), err
	}
	for topic, want := range map[string]string{
		"memory": "# Memory: notes from earlier sessions", "Undo": "`/redo`", "MCP servers": "# MCP servers", "landlock kernel": "",
	} {
		got, err := help(strings.Fields(topic)...)
		if want == "" {
			if err == nil || !strings.Contains(err.Error(), "terminal") {
				t.Errorf("help %s is no prompt: %v\n%s", topic, err, got)
			}
			continue
		}
		if err != nil || !strings.Contains(got, want) {
			t.Errorf("help %s: %v\n%s", topic, err, got)
		}
	}
	if got, err := help("landlock"); err != nil || !strings.Contains(got, "`jcode help permissions`") {
		t.Errorf("%v\n%s", err, got)
	}
	if _, err := help("xyzzyq"); err == nil || !strings.Contains(err.Error(), "permissions, plugins") {
		t.Errorf("%v", err)
	}
	outcome, err := manual.Show(t.Context(), "memory")
	if err != nil || !strings.Contains(outcome.Notice, "Memory: notes from earlier sessions") || outcome.Page == "" {
		t.Errorf("%+v, %v", outcome, err)
	}
}

// A rule without a pattern allows more than it seems to, which the list says.
func TestTheListOfRulesSaysWhatABareRuleAllows(t *testing.T) {
	home := t.TempDir()
	t.Chdir(t.TempDir())
	var out, errs bytes.Buffer
	err := run(t.Context(), []string{"--allow", "exec", "--allow", "exec(go test *)", "permissions", "list"}, Streams{Streams: console.Streams{Out: &out, Err: &errs, Getenv: func(name string) string {
		return map[string]string{"HOME": home, "JCODE_HOME": home}[name]
	}}})
	if err != nil || strings.Count(out.String(), "whatever they contain") != 1 {
		t.Errorf("%v\n%s", err, out.String())
	}
}
