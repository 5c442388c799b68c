//go:build linux || darwin

package cli_test

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTasksAreFollowedAndAnsweredOnThePage(t *testing.T) {
	t.Parallel()
	r := newTaskRoom(t)
	s := r.serve()
	s.pair("phone")
	if list := s.get(s.home + "/tasks"); !strings.Contains(list, "no tasks") {
		t.Errorf("without tasks:\n%s", list)
	}
	if found, _ := filepath.Glob(filepath.Join(r.home, "tasks*")); len(found) != 0 {
		t.Errorf("to look made %v", found)
	}
	r.config(`{"tasks":{"wait":"300ms"}}`)
	script := "replay:" + played(t, calls("", "exec", map[string]any{"cmd": "touch c.txt"}), says("", "Add c.txt"))
	r.must("tasks", "add", "--mode", "edits", "-m", script, "touch <b>c</b>")
	r.must("tasks", "add", "--mode", "edits", "-m", script, "--at", "24h", "tomorrow")
	r.must("worker", "--once")
	if home := s.get(s.home + "/"); !strings.Contains(home, "/tasks\">Tasks</a>") {
		t.Errorf("the first page does not lead there:\n%s", home)
	}
	list := s.get(s.home + "/tasks")
	for _, want := range []string{"1 touch &lt;b&gt;c&lt;/b&gt;", `<span class="chip needs">asks</span>`, "2 tomorrow", "1 asks, 1 queued"} {
		if !strings.Contains(list, want) {
			t.Errorf("the list lacks %q:\n%s", want, list)
		}
	}
	task := s.get(s.home + "/tasks/1")
	_, rest, _ := strings.Cut(task, `name="question" value="`)
	question, _, _ := strings.Cut(rest, `"`)
	for _, want := range []string{"touch c.txt", "Allow once", "Refuse", "Cancel", "attempt 1"} {
		if !strings.Contains(task, want) {
			t.Errorf("the task lacks %q:\n%s", want, task)
		}
	}
	refused := func(path string, form url.Values, code int) {
		t.Helper()
		res := s.post(s.home+"/tasks/"+path, form)
		s.body(res, code)
	}
	refused("1/answer", url.Values{"question": {"999"}, "said": {"yes"}}, http.StatusConflict)
	refused("1/answer", url.Values{"question": {question}, "said": {"perhaps"}}, http.StatusConflict)
	refused("1/answer", url.Values{"question": {question}}, http.StatusConflict)
	refused("1/take", nil, http.StatusConflict)
	refused("7/cancel", nil, http.StatusConflict)
	refused("1/retry", nil, http.StatusConflict)
	if v := r.task(1); v.State != "asks" {
		t.Errorf("after forms that say nothing: %+v", v)
	}
	if after := s.body(s.post(s.home+"/tasks/1/answer", url.Values{"question": {question}, "said": {"yes"}, "why": {""}}), http.StatusOK); !strings.Contains(after, "queued") || strings.Contains(after, "Allow once") {
		t.Errorf("after the answer:\n%s", after)
	}
	refused("1/answer", url.Values{"question": {question}, "said": {"no"}}, http.StatusConflict) // it was answered
	r.must("worker", "--once")
	if v := r.task(1); v.State != "done" {
		t.Errorf("with the answer: %+v", v)
	}
	if after := s.body(s.post(s.home+"/tasks/2/cancel", nil), http.StatusOK); !strings.Contains(after, "failed") || !strings.Contains(after, "Try again") {
		t.Errorf("after it was cancelled:\n%s", after)
	}
	if after := s.body(s.post(s.home+"/tasks/2/retry", nil), http.StatusOK); !strings.Contains(after, "queued") {
		t.Errorf("tried again:\n%s", after)
	}
	if _, err := os.Stat(filepath.Join(r.dir, "c.txt")); err == nil {
		t.Error("it was done in the folder")
	}
}

func TestAnOptionAndTheWordsBesideItAreTheReplyToATask(t *testing.T) {
	t.Parallel()
	r := newTaskRoom(t)
	s := r.serve()
	s.pair("phone")
	r.config(`{"tasks":{"wait":"300ms"}}`)
	script := played(t, calls("", "ask", map[string]any{"question": "Which colour?", "options": []string{"red", "blue"}}))
	r.must("tasks", "add", "--mode", "edits", "-m", "replay:"+script, "paint it")
	r.must("worker", "--once")
	_, rest, _ := strings.Cut(s.get(s.home+"/tasks/1"), `name="question" value="`)
	question, _, _ := strings.Cut(rest, `"`)
	s.body(s.post(s.home+"/tasks/1/answer", url.Values{"question": {question}, "option": {"blue"}, "said": {"but a light one"}}), http.StatusOK)
	rewrite(t, script, says("", "Paint it"))
	r.must("worker", "--once")
	if v := r.task(1); v.State != "done" {
		t.Fatalf("with the reply: %+v", v)
	}
	if log := r.must("tasks", "log", "1"); !strings.Contains(log, "blue\nbut a light one") {
		t.Errorf("what the model was told:\n%s", log)
	}
}

func TestADeviceThatWatchesMayChangeNoTask(t *testing.T) {
	t.Parallel()
	r := newTaskRoom(t)
	s := r.serve("--watch")
	s.pair("wall")
	r.must("tasks", "add", "--mode", "edits", "say it")
	task := s.get(s.home + "/tasks/1")
	if !strings.Contains(task, "This device watches") || strings.Contains(task, "<form") {
		t.Errorf("the task:\n%s", task)
	}
	for _, what := range []string{"cancel", "retry", "answer"} {
		s.body(s.post(s.home+"/tasks/1/"+what, url.Values{"question": {"1"}, "said": {"yes"}}), http.StatusForbidden)
	}
	if v := r.task(1); v.State != "queued" {
		t.Errorf("it was changed: %+v", v)
	}
	other := *s
	other.http = &http.Client{Timeout: patience}
	if body := other.body(other.post(s.home+"/tasks/1/cancel", nil), http.StatusUnauthorized); strings.Contains(body, "say it") {
		t.Errorf("without the device's key:\n%s", body)
	}
}
