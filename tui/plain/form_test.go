//go:build linux || darwin

package plain

import (
	"context"
	"io"
	"reflect"
	"strings"
	"testing"

	"jcode/agent/event"
	"jcode/internal/testkit/eventually"
	"jcode/tools"
	"jcode/tui/front"
	"jcode/tui/tuitest"
)

func TestPlainFormIsFilledInLineByLine(t *testing.T) {
	t.Parallel()
	f := tuitest.New()
	r, w := io.Pipe()
	var out lockedBuffer
	done := make(chan error, 1)
	go func() {
		done <- Run(context.Background(), front.Options{Session: &front.Session{Conversation: f, Events: f}, Version: "1.0"}, r, &out)
	}()
	see := func(want string) {
		t.Helper()
		eventually.Within(t, tuitest.Limit, want, func() bool { return strings.Contains(out.String(), want) }, out.String)
	}
	answered := func(id string) (a tools.FormAnswer) {
		t.Helper()
		eventually.Within(t, tuitest.Limit, "an answer", func() (ok bool) {
			f.Mu.Lock()
			defer f.Mu.Unlock()
			a, ok = f.Filled[id]
			return ok
		}, out.String)
		return a
	}
	f.Emit(event.AskForm{ID: "f", Form: tuitest.Form()})
	for _, step := range [][2]string{
		{"Name* (As in the passport; at least 2 characters): ", "A"},
		{"✗ must have at least 2 characters", "Ada"},
		{"E-mail (an e-mail address) [ada@example.com]: ", ""},
		{"seats* (a whole number, 1 to 9) [2]: ", "3"},
		{"  4: Bicycle\n(What shall be on board?; at most 3 of them; several with commas between) [m]: ", "window seat, 4"},
		{"  2: Second\n[2]: ", ""},
		{"And back (yes or no) [yes]: ", "no"},
		{"At most (a number): ", ""},
		{"Send it? (yes or no) ", ""},
		{"Send it? (yes or no) ", "yes"},
	} {
		see(step[0])
		if _, err := io.WriteString(w, step[1]+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	want := map[string]any{"name": "Ada", "mail": "ada@example.com", "seats": 3.0, "extras": []string{"w", "b"}, "class": "2", "back": false}
	if got := answered("f"); got.Action != tools.FormAccept || !reflect.DeepEqual(got.Values, want) {
		t.Errorf("%+v", got)
	}
	for id, word := range map[string]string{"d": "/decline", "c": "/cancel"} {
		f.Emit(event.AskForm{ID: id, Form: tools.Form{From: "MCP server " + id, Text: "?"}})
		see("MCP server " + id + " asks")
		if _, err := io.WriteString(w, word+"\n"); err != nil {
			t.Fatal(err)
		}
		if got := answered(id); "/"+string(got.Action) != word {
			t.Errorf("%+v", got)
		}
	}
	f.Emit(event.AskForm{ID: "e", Form: tools.Form{From: "MCP server e"}})
	see("MCP server e asks")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if got := answered("e"); got.Action != tools.FormCancel {
		t.Errorf("at the end of input: %+v", got)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}
