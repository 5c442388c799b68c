//go:build linux || darwin

package cli_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"jcode/internal/testkit/eventually"
	"jcode/internal/testkit/modeltest"
	"jcode/internal/testkit/terminal"
	"jcode/session"
)

// secretWord occurs in every message of these conversations.
const secretWord = "zanzibar"

// hidden is a chat whose files are all in known folders.
type hidden struct {
	*chat
	temp string
}

func newHidden(t *testing.T, replies ...modeltest.Reply) *hidden {
	h := &hidden{chat: newChat(t, replies...), temp: shortDir(t)}
	h.env = append(h.env, "TMPDIR="+h.temp, "XDG_CACHE_HOME="+h.temp, "XDG_STATE_HOME="+h.temp)
	return h
}

// nowhere checks that no file contains anything that was said, and that the database stores it in no form.
func (h *hidden) nowhere(when string) {
	h.t.Helper()
	for _, dir := range []string{h.home, h.temp, h.dir} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return nil // it was removed meanwhile
			}
			if b, err := os.ReadFile(path); err == nil && bytes.Contains(b, []byte(secretWord)) {
				h.t.Errorf("%s, it is in %s", when, path)
			}
			if strings.Contains(path, secretWord) {
				h.t.Errorf("%s, a file is called %s", when, path)
			}
			return nil
		})
		if err != nil {
			h.t.Fatal(err)
		}
	}
	s, err := session.Open(h.t.Context(), filepath.Join(h.home, "jcode.db"), session.Options{})
	if err != nil {
		h.t.Fatal(err)
	}
	defer s.Close()
	rows, err := s.List(h.t.Context(), session.Filter{All: true, Kind: session.KindAny, Archived: true})
	if err != nil || len(rows) > 0 {
		h.t.Errorf("%s, the database has the sessions %v, %v", when, rows, err)
	}
	prompts, err := s.Prompts().Search(h.t.Context(), "", "", 10)
	for _, p := range prompts {
		if !strings.HasPrefix(p.Text, "/private") { // it was switched on then
			h.t.Errorf("%s, the database has the prompt %q", when, p.Text)
		}
	}
	if err != nil {
		h.t.Error(err)
	}
}

// secretReplies use everything that is otherwise written to the disk: long outputs, jobs, edits, sub-agents,
// plans and failures.
func secretReplies() []modeltest.Reply {
	return []modeltest.Reply{
		modeltest.Calls(
			tool("c1", "exec", map[string]any{"cmd": "seq 1 30000 | sed s/^/" + secretWord + "/"}),
			tool("c2", "exec", map[string]any{"cmd": "echo " + secretWord + "; touch begun; sleep 600", "background": true}),
			tool("c3", "todo", map[string]any{"items": []any{map[string]any{"text": secretWord, "status": "pending"}}}),
			tool("c4", "task", map[string]any{"prompt": "look for " + secretWord}),
		),
		modeltest.Text("the sub-agent saw " + secretWord),
		modeltest.Calls(tool("c6", "exec", map[string]any{"cmd": "until test -e begun; do sleep 0.02; done"})),
		modeltest.Calls(tool("c5", "job", map[string]any{"action": "output", "id": 1})),
		modeltest.Text("That was " + secretWord + " one."),
	}
}

func TestNothingOfAPrivateConversationReachesTheDisk(t *testing.T) {
	t.Parallel()
	h := newHidden(t, append(secretReplies(),
		modeltest.Text("That was two."),                      // after the fork
		modeltest.Text("It was about "+secretWord+"."),       // the summary
		modeltest.Text("That was "+secretWord+" three."))...) // after the rewind
	h.env = append(h.env, "JCODE_RECORD="+filepath.Join(h.temp, "record.jsonl"))
	h.startAt("This conversation is private", "--private", "--debug", "--mode", "yolo")
	h.wait(" private  ")
	h.say("tell me about " + secretWord)
	h.wait("That was " + secretWord + " one.")
	h.idle()
	h.nowhere("after a turn")
	if got := h.answered(4, "c5"); !strings.Contains(got, secretWord) {
		t.Errorf("the output of a job is %q", got)
	}

	h.say("!echo " + secretWord + " | tr a-z a-z")
	h.wait("✓ ! echo " + secretWord)
	h.say("/fork")
	h.wait("This is a copy")
	h.say("and " + secretWord + " two")
	h.wait("That was two.")
	h.say("/compact")
	h.wait("summar")
	h.idle()
	h.nowhere("after a fork and a compaction")
	h.say("/resume")
	h.wait("private, in memory")
	h.Press("esc")
	h.wait("ask for something")
	h.say("/rewind 2")
	h.wait("Rewound: the message is back", "› and "+secretWord+" two")
	h.Press("enter")
	h.wait("three.")
	h.Type("unsent " + secretWord)
	h.wait("unsent " + secretWord)
	h.nowhere("while something is written")
	h.Press("ctrl+u")
	h.quit()
	if strings.Contains(h.Output(), "resume with") {
		t.Error("a way to go on is promised")
	}
	h.nowhere("after the end")
}

func TestNothingOfAPrivateConversationIsLeftByAKill(t *testing.T) {
	t.Parallel()
	h := newHidden(t, secretReplies()...)
	h.start("--mode", "yolo")
	h.say("/private on")
	h.wait("This conversation is private", " private  ")
	h.say("tell me about " + secretWord)
	h.wait("That was " + secretWord + " one.")
	h.say("/private off")
	h.wait("/save keeps this one")
	if err := h.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-h.Exited()
	h.nowhere("after a kill")
}

func TestAPrivateConversationIsSavedFromItsBeginning(t *testing.T) {
	t.Parallel()
	h := newHidden(t, append(secretReplies(), modeltest.Text("That was two."), modeltest.Text("That was three."))...)
	h.start("--private", "--mode", "yolo")
	h.say("tell me about " + secretWord)
	h.wait("That was " + secretWord + " one.")
	h.idle()
	h.say("/save")
	h.wait("Saved from the beginning")
	h.until(func(s terminal.Screen) bool { return !s.Contains(" private  ") })
	h.say("and two")
	h.wait("That was two.")
	h.quit()
	out, err := h.jcode("", "sessions", "show")
	if err != nil || !strings.Contains(out, "tell me about "+secretWord) || !strings.Contains(out, "and two") {
		t.Errorf("kept is %q, %v", out, err)
	}
	h.start("-c")
	h.wait("That was two.")
	h.say("and three")
	h.wait("That was three.")
	if last := h.srv.Requests()[len(h.srv.Requests())-1]; !strings.Contains(string(last.Raw), "tell me about "+secretWord) {
		t.Error("the model does not know the beginning any more")
	}
	h.quit()
}

func TestAPrivateConversationHasNoLastingAnswers(t *testing.T) {
	t.Parallel()
	h := newHidden(t,
		modeltest.Calls(tool("c1", "exec", map[string]any{"cmd": "touch " + secretWord + "1"})), modeltest.Text("One."),
		modeltest.Calls(tool("c2", "exec", map[string]any{"cmd": "touch " + secretWord + "1"})), modeltest.Text("Two."))
	h.start("--private", "--mode", "ask")
	h.say("make it")
	s := h.answerable("touch " + secretWord)
	if s.Contains("always") {
		t.Errorf("a lasting answer is offered:\n%s", s.Text())
	}
	h.Press("s")
	h.wait("One.")
	h.say("again")
	h.wait("Two.") // without a question
	h.say("/permissions allow exec(touch *)")
	h.wait("the answer can only apply to this conversation")
	if err := os.Remove(filepath.Join(h.dir, secretWord+"1")); err != nil {
		t.Error(err)
	}
	h.quit()
	h.nowhere("after the end")
}

// /private can be switched on while a prompt is already typed.
func TestWhatStoodInTheInputBeforePrivateOnIsErased(t *testing.T) {
	t.Parallel()
	h := newHidden(t, modeltest.Text("That was "+secretWord+"."))
	h.start()
	for _, text := range []string{secretWord, strings.Repeat(secretWord+" ", 600), "about " + secretWord} {
		h.Type(text)
		h.draft(func(kept string) bool { return strings.Contains(kept, text) })
		h.Press("ctrl+u")
		h.draft(func(kept string) bool { return kept == "" })
	}
	h.Type(secretWord)
	h.draft(func(kept string) bool { return kept == secretWord })
	h.Press("ctrl+u")
	h.say("/private on")
	h.wait(" private  ", "This conversation is private")
	h.nowhere("after /private on")
	h.say("tell me about " + secretWord)
	h.wait("That was " + secretWord)
	h.idle()
	h.nowhere("after a turn")
	h.quit()
	h.nowhere("after the end")
}

// draft waits until the stored draft is as expected.
func (h *hidden) draft(as func(kept string) bool) {
	h.t.Helper()
	s, err := session.Open(h.t.Context(), filepath.Join(h.home, "jcode.db"), session.Options{})
	if err != nil {
		h.t.Fatal(err)
	}
	defer s.Close()
	project, _, err := session.ProjectID(h.dir)
	if err != nil {
		h.t.Fatal(err)
	}
	kept := ""
	eventually.Within(h.t, patience, "the input is kept as expected", func() bool {
		if kept, err = s.Drafts().Get(h.t.Context(), project); err != nil {
			h.t.Fatal(err)
		}
		return as(kept)
	}, func() string { return fmt.Sprintf("of the input is kept: %.100q", kept) })
}
