//go:build linux || darwin

package tui

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"time"

	"jcode/agent/event"
	"jcode/tools/command"
	"jcode/tui/front"
	"jcode/tui/tuitest"
)

// A `!` line names its command, and Esc ends it; Ctrl+B moves it to the jobs and is the cursor's otherwise.
func TestAShellLineCanBeEndedAndMoved(t *testing.T) {
	t.Parallel()
	moved := make(chan struct{}, 1)
	r := run(t, 80, 24, func(o *front.Options) {
		o.Shell = func(ctx context.Context, _ string, out func(string)) error {
			out("begun\n")
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-moved:
				return command.InBackground("job 1")
			}
		}
		o.ToBackground = func() int { moved <- struct{}{}; return 1 }
	}).ready()
	r.Type("!for i in 1 2; do sleep 20; done")
	r.see("for i in 1 2")
	r.Press("enter")
	r.see("begun", "! for i in 1 2; do sleep 20; done  esc ends it · ctrl+b puts it to the jobs")
	r.Press("esc")
	r.see("◌ ! for i in 1 2; do sleep 20; done  interrupted")
	r.gone("ends it")
	r.Type("!sleep 20")
	r.see("$ !sleep 20")
	r.Press("enter")
	r.see("! sleep 20  esc ends it")
	r.Press("ctrl+b")
	r.see("→ ! sleep 20  job 1")
	r.gone("ends it")
	r.Type("ab")
	r.see("› ab")
	r.Press("ctrl+b")
	r.Type("c")
	r.see("› acb")
}

// A command of the model that has run for a moment names the key that moves it to the jobs, where there is room.
func TestALongCommandNamesTheKeyForTheJobs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		cols int
		ran  time.Duration
		name string
		keys map[string][]string
		want string
	}{
		{80, 4 * time.Second, "exec", nil, "working  0s  ctrl+b puts it to the jobs"},
		{80, 4 * time.Second, "exec", map[string][]string{"background": {"f5"}}, "working  0s  f5 puts it to the jobs"},
		{80, 2 * time.Second, "exec", nil, ""},
		{80, 4 * time.Second, "fetch", nil, ""},
		{80, 4 * time.Second, "exec", map[string][]string{"left": {"left"}}, ""},
		{40, 4 * time.Second, "exec", nil, ""},
	} {
		p, _ := still(t, c.cols, 24, func(o *front.Options) { o.ToBackground, o.Keys = func() int { return 1 }, c.keys })
		feed(p, event.TurnStart{Prompt: "x", At: clock}, event.CallStart{ID: "1", Name: c.name, Arguments: tuitest.JSON("cmd", "make"), At: clock.Add(-c.ran)})
		s := tuitest.Stripped(p.frameText())
		if got := strings.Contains(s, "to the jobs"); got != (c.want != "") || !strings.Contains(s, c.want) || !strings.Contains(s, "  working  0s") {
			t.Errorf("%+v: screen:\n%s", c, s)
		}
	}
}

// The help lists the key that is the cursor's while no command runs.
func TestTheHelpFindsTheKeyForTheJobs(t *testing.T) {
	t.Parallel()
	for _, query := range []string{"ctrl+b", "to the jobs", "background"} {
		p, _ := still(t, 100, 24, nil)
		press(p, "f1")
		press(p, strings.Split(query, "")...)
		s := tuitest.Stripped(p.frameText())
		if !regexp.MustCompile(`(?m)^ . +ctrl\+b  .*while a command runs: move it to the jobs`).MatchString(s) {
			t.Errorf("%s: screen:\n%s", query, s)
		}
	}
}
