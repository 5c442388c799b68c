package page

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"jcode/internal/text"
	"jcode/remote"
)

// Queue is the tasks that wait for workers, and what a person does with them.
type Queue interface {
	// List returns tasks, those that need somebody first, and one line about all.
	List(ctx context.Context) (rows []Queued, all string, err error)
	// Show returns a task with all that is known of it.
	Show(ctx context.Context, id int64) (Queued, error)
	// Answer answers a question: yes, no with a reason, or with the reply to a question in words.
	Answer(ctx context.Context, question int64, said, why string) error
	// Cancel ends a task, Retry queues one again that failed.
	Cancel(ctx context.Context, id int64) error
	Retry(ctx context.Context, id int64) error
}

// Queued is a task.
type Queued struct {
	ID                             int64
	State, Name, Age, Steps, Cost  string
	Why                            string   // it waits or failed
	Detail                         []string // all that is known of it, a line each
	Ask                            *Asked   // the question that it waits with
	Cancellable, Retriable, Urgent bool
}

// Asked is a question of a task.
type Asked struct {
	ID      int64
	Rows    []string // all of it
	Call    bool     // it is answered with yes or no, otherwise in words
	Options []string
}

// tasksOf is the address of a device's list of tasks.
func tasksOf(v Device) string { return homeOf(v) + "tasks" }

// listTasks shows the tasks.
func (s *Server) listTasks(w http.ResponseWriter, r *http.Request, v Device) {
	ctx, cancel := context.WithTimeout(r.Context(), actWithin)
	defer cancel()
	rows, all, err := s.opt.Queue.List(ctx)
	var b sheet
	if err != nil {
		b.put(`<p class="said">%s</p>`, text.OneLine(err.Error()))
	}
	b.put(`<p class="facts">%s</p><ul class="sessions">`, all)
	for _, t := range rows {
		b.put(`<li><a href="%s/%d"><span class="title">%d %s</span>%s<span class="facts">%s · %s steps · %s%s</span></a></li>`,
			tasksOf(v), t.ID, t.ID, text.OneLine(t.Name), chip(t), t.Age, t.Steps, t.Cost, because(t))
	}
	b.put(`</ul><p><a href="%s">Look again</a></p>`, tasksOf(v))
	s.aside(w, r, homeOf(v), "Tasks", b.done())
}

// chip shows the state of a task.
func chip(t Queued) markup {
	class := "idle"
	switch {
	case t.Urgent:
		class = "needs"
	case t.State == "working":
		class = "working"
	}
	var b sheet
	b.put(`<span class="chip %s">%s</span>`, class, t.State)
	return b.done()
}

func because(t Queued) string {
	if t.Why == "" {
		return ""
	}
	return " · " + text.OneLine(t.Why)
}

// showTask shows a task, and to a device that may what can be done with it.
func (s *Server) showTask(w http.ResponseWriter, r *http.Request, v Device) {
	t, err := s.task(r)
	if err != nil {
		s.tell(w, http.StatusNotFound, tasksOf(v), "Not here", text.OneLine(err.Error()))
		return
	}
	var b sheet
	b.put(`<p>%s<span class="facts">%s · %s steps · %s%s</span></p>`, chip(t), t.Age, t.Steps, t.Cost, because(t))
	action := tasksOf(v) + "/" + strconv.FormatInt(t.ID, 10)
	may := v.Role == remote.Control
	if t.Ask != nil {
		b.put(`<section class="ask"><h2>It asks</h2><pre>%s</pre>`, strings.Join(t.Ask.Rows, "\n"))
		if may {
			drawTaskAnswers(&b, action, t.Ask)
		}
		b.put(`</section>`)
	}
	if may && t.Cancellable {
		b.put(`<form method="post" action="%s/cancel"><button>Cancel</button></form>`, action)
	}
	if may && t.Retriable {
		b.put(`<form method="post" action="%s/retry"><button>Try again</button></form>`, action)
	}
	if !may {
		b.put(`<p class="dim">This device watches.</p>`)
	}
	b.put(`<pre>%s</pre><p><a href="%s">Look again</a></p>`, strings.Join(t.Detail, "\n"), action)
	s.aside(w, r, tasksOf(v), "Task "+strconv.FormatInt(t.ID, 10), b.done())
}

// drawTaskAnswers writes the form of a question. It names the question: another one may be open when it is sent.
func drawTaskAnswers(b *sheet, action string, q *Asked) {
	b.put(`<form method="post" action="%s/answer"><input type="hidden" name="question" value="%d">`, action, q.ID)
	if q.Call {
		b.put(`<label>Why not <input name="why" maxlength="10000" autocomplete="off"></label> <button class="main" name="said" value="yes">Allow once</button> <button name="said" value="no">Refuse</button>`)
	} else {
		for _, o := range q.Options {
			b.put(`<button name="option" value="%s">%s</button> `, o, text.OneLine(o))
		}
		b.put(`<label>Reply <input name="said" maxlength="10000" autocomplete="off"></label> <button class="main">Send</button>`)
	}
	b.put(`</form>`)
}

// task returns the task that a request names.
func (s *Server) task(r *http.Request) (Queued, error) {
	id, err := strconv.ParseInt(r.PathValue("task"), 10, 64)
	if err != nil {
		return Queued{}, errors.New("there is no such task")
	}
	ctx, cancel := context.WithTimeout(r.Context(), actWithin)
	defer cancel()
	return s.opt.Queue.Show(ctx, id)
}

// actOnTask does what a form says, and goes back to the task.
func (s *Server) actOnTask(w http.ResponseWriter, r *http.Request, v Device) {
	if v.Role != remote.Control {
		s.tell(w, http.StatusForbidden, tasksOf(v), "That did not work", "this device watches: it may change nothing")
		return
	}
	err := r.ParseForm()
	if err != nil {
		err = errUnclear
	}
	t := Queued{}
	if err == nil {
		t, err = s.task(r)
	}
	if err == nil {
		ctx, cancel := context.WithTimeout(r.Context(), actWithin)
		defer cancel()
		switch r.PathValue("what") {
		case "answer":
			err = s.answerTask(ctx, t, r)
		case "cancel":
			err = s.opt.Queue.Cancel(ctx, t.ID)
		case "retry":
			err = s.opt.Queue.Retry(ctx, t.ID)
		default:
			err = errUnclear
		}
	}
	if err != nil {
		s.tell(w, http.StatusConflict, tasksOf(v), "That did not work", text.OneLine(err.Error()))
		return
	}
	http.Redirect(w, r, tasksOf(v)+"/"+strconv.FormatInt(t.ID, 10), http.StatusSeeOther)
}

func (s *Server) answerTask(ctx context.Context, t Queued, r *http.Request) error {
	question, err := strconv.ParseInt(r.PostForm.Get("question"), 10, 64)
	said := replied(r.PostForm.Get("option"), r.PostForm.Get("said"))
	switch {
	case err != nil || said == "":
		return errUnclear
	case t.Ask == nil || t.Ask.ID != question:
		return errors.New("this question was answered before, or is no longer asked")
	case t.Ask.Call && !slices.Contains([]string{"yes", "no"}, said):
		return errUnclear
	}
	return s.opt.Queue.Answer(ctx, question, said, strings.TrimSpace(r.PostForm.Get("why")))
}

// replied is what a form replies: the option that was pressed, with what was typed beside it.
func replied(option, typed string) string {
	typed = strings.TrimSpace(typed)
	if option == "" || typed == "" {
		return option + typed
	}
	return option + "\n" + typed
}
