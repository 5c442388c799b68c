//go:build linux || darwin

package cli_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"jcode/internal/testkit/modeltest"
)

func TestAProgramHoldsAConversation(t *testing.T) {
	t.Parallel()
	c := newChat(t, modeltest.Text("one"), modeltest.Text("two"))
	f := c.feed()
	init := f.until("init")
	f.write(`{"type": "prompt", "text": "first", "request": "r1"}`)
	asked := f.until("response")
	if !asked.OK || asked.Request != "r1" || asked.Line != 1 || strings.Contains(f.transcript(), `"turn_start"`) {
		t.Errorf("the answer to a prompt comes before its turn:\n%s", f.transcript())
	}
	var queued struct{ ID string }
	if err := json.Unmarshal(asked.Result, &queued); err != nil {
		t.Fatal(err)
	}
	if res := f.until("result"); !res.OK || res.Text != "one" || !slices.Equal(res.Prompts, []string{queued.ID}) || !strings.Contains(res.raw, fromRaw(t, init, "session_id")) {
		t.Errorf("%s\n%s", res.raw, init.raw)
	}
	f.write(promptLine("second"))
	if res := f.until("result"); res.Text != "two" {
		t.Error(res.raw)
	}
	if code := f.end(); code != 0 {
		t.Errorf("exit code %d\n%s", code, f.err.String())
	}
	if r := c.turns(c.srv.Requests()); len(r) != 2 || !strings.Contains(string(r[1].Raw), "first") {
		t.Error("the second prompt went on with another conversation")
	}
}

func TestAProgramAnswersWhatIsAsked(t *testing.T) {
	t.Parallel()
	c := newChat(t,
		modeltest.Calls(tool("c1", "exec", map[string]any{"cmd": "touch made"})),
		modeltest.Calls(tool("c2", "exec", map[string]any{"cmd": "touch never"})),
		modeltest.Calls(tool("c3", "ask", map[string]any{"question": "which colour?", "options": []string{"red", "blue"}})),
		modeltest.Text("done"))
	f := c.feed()
	f.write(promptLine("go"))
	q := f.until("approval_asked")
	f.write(fmt.Sprintf(`{"type": "answer", "id": %q}`, q.ID))
	if r := f.response(2); r.OK || r.Kind != "invalid" || !strings.Contains(r.Error, "option is missing") {
		t.Errorf("an answer without its option: %s", r.raw)
	}
	f.write(fmt.Sprintf(`{"type": "answer", "id": %q, "option": 0}`, q.ID))
	if r := f.response(3); !r.OK {
		t.Error(r.raw)
	}
	q = f.until("approval_asked")
	var question struct {
		Question struct {
			Options []struct{ Scope string }
		}
	}
	if err := json.Unmarshal([]byte(q.raw), &question); err != nil {
		t.Fatal(err)
	}
	no := slices.IndexFunc(question.Question.Options, func(o struct{ Scope string }) bool { return o.Scope == "no" })
	f.write(fmt.Sprintf(`{"type": "answer", "id": %q, "option": %d, "word": "not that one"}`, q.ID, no))
	asked := f.until("ask")
	f.write(fmt.Sprintf(`{"type": "reply", "id": %q, "text": "blue"}`, asked.ID))
	if res := f.until("result"); res.Text != "done" {
		t.Error(res.raw)
	}
	f.write(fmt.Sprintf(`{"type": "reply", "id": %q, "text": "red"}`, asked.ID))
	if r := f.response(6); r.OK || r.Kind != "gone" {
		t.Errorf("a question was answered twice: %s", r.raw)
	}
	if code := f.end(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if _, err := os.Stat(filepath.Join(c.dir, "made")); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(c.dir, "never")); err == nil {
		t.Error("what was refused was done")
	}
	requests := c.turns(c.srv.Requests())
	if last := string(requests[len(requests)-1].Raw); !strings.Contains(last, "blue") || !strings.Contains(last, "not that one") {
		t.Error("the model did not read the answers")
	}
}

func TestEachBadLineIsAnsweredByItsNumber(t *testing.T) {
	t.Parallel()
	c := newChat(t, modeltest.Text("still here"))
	f := c.feed()
	for _, bad := range []struct{ line, said string }{
		{`{"type": "prompt", "text": `, "no JSON object"},
		{`[1]`, "no JSON object"},
		{`null`, "no JSON object"},
		{`{"text": "x"}`, "no type"},
		{`{"type": 3}`, "type: it is a text"},
		{`{"type": "dance"}`, "the types are"},
		{`{"type": "hello", "token": "x"}`, "the types are"},
		{`{"type": "prompt", "texts": "x"}`, "text is missing"},
		{`{"type": "prompt", "text": "x", "more": 1}`, "more"},
		{`{"type": "prompt", "text": " "}`, "between 1"},
		{`{"type": "prompt", "text": "x", "session": "s"}`, "session"},
		{`{"type": "prompt", "text": "/nosuch"}`, "no command"},
		{`{"type": "set"}`, "a mode or a model"},
		{`{"type": "set", "mode": "wild"}`, "no mode"},
		{`{"type": "answer", "id": "x", "option": 0}`, "closed"},
		{`{"type": "unqueue", "id": "x"}`, "no prompt"},
		{"{\"type\": \"prompt\", \"text\": \"\xff\"}", "UTF-8"},
	} {
		f.write(bad.line)
		n := len(f.seen)
		r := f.until("response")
		if r.OK || r.Kind == "" || !strings.Contains(r.Error, bad.said) || r.Line == 0 {
			t.Errorf("%s: %s (after %d)", bad.line, r.raw, n)
		}
	}
	f.write("", promptLine("are you there?")) // an empty line is none, and is counted
	if r := f.response(19); !r.OK {
		t.Error(r.raw)
	}
	if res := f.until("result"); res.Text != "still here" {
		t.Error(res.raw)
	}
	if code := f.end(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if !strings.Contains(f.err.String(), "line 1 of standard input") {
		t.Errorf("stderr says nothing: %s", f.err.String())
	}
}

func TestInputThatEndsInTheMiddleOfALine(t *testing.T) {
	t.Parallel()
	c := newChat(t, modeltest.Text("whole"))
	f := c.feed()
	f.write(promptLine("go"))
	if _, err := io.WriteString(f.in, `{"type": "prompt", "te`); err != nil {
		t.Fatal(err)
	}
	if code := f.end(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if all := f.transcript(); !strings.Contains(all, "ended in the middle") || !strings.Contains(all, `"text":"whole"`) {
		t.Error(all)
	}
	f = c.feed()
	if _, err := io.WriteString(f.in, `{"type": "pro`); err != nil {
		t.Fatal(err)
	}
	if code := f.end(); code != 2 {
		t.Errorf("exit code %d where nothing could be sent", code)
	}
}

func TestNobodyAnswersOnceTheInputHasEnded(t *testing.T) {
	t.Parallel()
	c := newChat(t, modeltest.Calls(tool("c1", "exec", map[string]any{"cmd": "touch made"})), modeltest.Calls(tool("c2", "ask", map[string]any{"question": "why?"})), modeltest.Text("without it"))
	f := c.feed()
	f.write(promptLine("go"))
	f.until("approval_asked")
	if code := f.end(); code != 0 {
		t.Errorf("exit code %d\n%s", code, f.transcript())
	}
	if _, err := os.Stat(filepath.Join(c.dir, "made")); err == nil || !strings.Contains(f.transcript(), `"text":"without it"`) {
		t.Error(f.transcript())
	}
}

func TestAProgramInterruptsAndSetsWhileATurnRuns(t *testing.T) {
	t.Parallel()
	c := newChat(t,
		modeltest.Calls(tool("c1", "exec", map[string]any{"cmd": "while ! test -e go; do sleep 0.05; done"})),
		modeltest.Text("after"), modeltest.Text("after"))
	f := c.feed("--mode", "yolo")
	f.write(promptLine("wait"))
	f.until("tool_call")
	f.write(`{"type": "set", "mode": "plan", "request": "m"}`)
	if r := f.response(2); !r.OK || r.Request != "m" {
		t.Error(r.raw)
	}
	f.write(`{"type": "undo"}`)
	if r := f.response(3); r.OK || r.Kind != "busy" {
		t.Errorf("undo while a turn runs: %s", r.raw)
	}
	f.write(promptLine("and this"))
	f.response(4)
	f.write(`{"type": "interrupt"}`)
	if r := f.response(5); !r.OK {
		t.Error(r.raw)
	}
	if res := f.until("result"); res.OK || res.Error != "interrupted" {
		t.Error(res.raw)
	}
	f.write(`{"type": "set", "model": "other-model"}`, promptLine("now"))
	if res := f.until("result"); !res.OK || res.Text != "after" || len(res.Prompts) != 2 {
		t.Errorf("the prompt that waited comes with the next one: %s", res.raw)
	}
	if code := f.end(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if !strings.Contains(f.transcript(), `"mode":"plan"`) { // it may come before the response
		t.Error("no state has the new mode")
	}
	requests := c.turns(c.srv.Requests())
	if last := requests[len(requests)-1]; !strings.Contains(string(last.Raw), "other-model") {
		t.Error("the model was not changed")
	}
}

func TestPromptsHeldByAnInterruptDoNotKeepARunThatHasNoInput(t *testing.T) {
	t.Parallel()
	c := newChat(t, modeltest.Calls(tool("c1", "exec", map[string]any{"cmd": "while ! test -e go; do sleep 0.05; done"})))
	f := c.feed("--mode", "yolo")
	f.write(promptLine("wait"))
	f.until("tool_call")
	f.write(promptLine("later"))
	f.response(2)
	f.write(`{"type": "interrupt"}`)
	f.until("result")
	if code := f.end(); code != 130 {
		t.Errorf("exit code %d of a run whose last turn was interrupted", code)
	}
	if !strings.Contains(f.transcript(), `"unsent"`) {
		t.Errorf("nothing says that a prompt was not sent:\n%s", f.transcript())
	}
}

// A run whose output can't be written ends, also while its input stays open.
func TestAFedRunEndsWhereNothingCanBePrinted(t *testing.T) {
	t.Parallel()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer func() { _ = full.Close() }()
	c := newChat(t, modeltest.Text("one"))
	cmd := c.command("jcode", "-p", "--input-format", "stream-json", "--output-format", "stream-json")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout = full
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(in, promptLine("first")+"\n"); err != nil {
		t.Error(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		if err == nil {
			t.Error("it ends as if all had been printed")
		}
	case <-time.After(patience):
		_ = cmd.Process.Kill()
		<-ended
		t.Error("it goes on")
	}
}

func TestAFedRunAnswersBySchema(t *testing.T) {
	t.Parallel()
	c := newChat(t, modeltest.Text("no value"), modeltest.Text(`{"ok": true}`), modeltest.Text(`{"ok": false}`))
	f := c.feed("--output-schema", `{"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}`)
	for _, want := range []string{`{"ok": true}`, `{"ok": false}`} {
		f.write(promptLine("does it work?"))
		if res := f.until("result"); !res.OK || len(res.Prompts) != 1 || string(res.Output) != want && string(res.Output) != strings.ReplaceAll(want, " ", "") {
			t.Errorf("%s: %s", want, res.raw)
		}
	}
	if code := f.end(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func TestInputFormatGoesWithLinesOnly(t *testing.T) {
	t.Parallel()
	c := newChat(t)
	for line, said := range map[string]string{
		"--input-format stream-json": "is for -p", "-p --input-format stream-json": "needs --output-format stream-json",
		"-p --input-format stream-json --output-format stream-json hello": "standard input alone", "-p --input-format xml": "--input-format",
	} {
		out, err := c.command("jcode", strings.Fields(line)...).CombinedOutput()
		if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() != 2 || !strings.Contains(string(out), said) {
			t.Errorf("%s: %v %s", line, err, out)
		}
	}
}
