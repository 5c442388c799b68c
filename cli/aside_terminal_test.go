//go:build linux || darwin

package cli_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"jcode/internal/testkit/modeltest"
	"jcode/internal/testkit/terminal"
	"jcode/session"
)

// A question by the way sees the conversation; neither it nor its answer is part of it, and its cost is counted.
func TestAQuestionByTheWayLeavesNoTrace(t *testing.T) {
	t.Parallel()
	c := newChat(t, modeltest.Text("The port is 8080."), modeltest.Text("I go on."))
	asked := make(chan string, 1)
	c.srv.Route(func(r modeltest.Request) (modeltest.Reply, bool) {
		if !strings.Contains(string(r.Raw), "what was the port") {
			return modeltest.Text("A title"), strings.HasPrefix(r.System(), "Name the task")
		}
		asked <- string(r.Raw)
		return modeltest.Text("It was 8080, by the way."), true
	})
	c.start()
	c.say("which port?")
	c.wait("The port is 8080.")
	c.say("/btw what was the port")
	c.wait("By the way: what was the port", "It was 8080, by the way.")
	if raw := <-asked; !strings.Contains(raw, "which port?") || !strings.Contains(raw, "The port is 8080.") {
		t.Errorf("the question was asked without the conversation: %s", raw)
	}
	c.Press("esc")
	c.until(func(s terminal.Screen) bool { return !s.Contains("It was 8080") })
	c.say("go on")
	c.wait("I go on.")
	if raw := string(c.request(2).Raw); strings.Contains(raw, "by the way") || strings.Contains(raw, "what was the port") {
		t.Errorf("the conversation holds the question: %s", raw)
	}
	c.idle()
	c.quit()
	store, err := session.Open(t.Context(), filepath.Join(c.home, "jcode.db"), session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	all, err := store.List(t.Context(), session.Filter{All: true})
	if err != nil || len(all) != 1 {
		t.Fatalf("%d sessions: %v", len(all), err)
	}
	rows, err := store.History().All(t.Context(), all[0].ID)
	beside := 0
	for _, row := range rows {
		for _, part := range row.Parts {
			if strings.Contains(part.Text, "by the way") || strings.Contains(part.Text, "what was the port") {
				t.Errorf("the question is kept: %+v", part)
			}
		}
		if row.Role == session.RoleSystem && row.Usage != nil && len(row.Parts) == 0 {
			beside++
		}
	}
	if beside < 2 { // the title, and the question
		t.Errorf("%d usages from beside the conversation are kept (%v)", beside, err)
	}
}

// The list of models has columns, and what the person has used is at the top.
func TestTheListOfModelsHasColumns(t *testing.T) {
	t.Parallel()
	c := newChat(t, modeltest.Text("Hello."))
	c.srv.Models("aaa-model", "gpt-4.1", "test-model")
	c.start()
	c.say("hello")
	c.wait("Hello.")
	c.idle()
	c.Press("alt+m")
	s := c.wait("Models", "$2 in $8 out", "pictures", "★")
	used, other := -1, -1
	for i, row := range s.Lines() {
		if strings.Contains(row, "★") && strings.Contains(row, "test-model") {
			used = i
		}
		if strings.Contains(row, "aaa-model") {
			other = i
		}
	}
	if used < 0 || other < used {
		t.Errorf("the model that was used is not first:\n%s", s.Text())
	}
	c.Type("4.1")
	c.until(func(s terminal.Screen) bool { return !s.Contains("aaa-model") && s.Contains("gpt-4.1") })
	c.Press("esc")
	c.quit()
}

// The favourites of the settings come first in the list of models, in their order, and they alone have the mark: also
// one that the endpoint does not list. Enter takes one.
func TestFavoriteModelsComeFirst(t *testing.T) {
	t.Parallel()
	c := newChat(t, modeltest.Text("Hello."))
	c.srv.Models("aaa-model", "gpt-4.1", "test-model")
	put(t, filepath.Join(c.home, "config.json"), `{"favorite_models": ["gpt-4.1", "ollama/far-model"]}`)
	c.start()
	c.say("hello")
	c.wait("Hello.")
	c.idle()
	c.Press("alt+m")
	s := c.wait("Models", "far-model", "aaa-model", "★")
	var order []string
	for _, row := range s.Lines() {
		for _, name := range []string{"aaa-model", "gpt-4.1", "far-model", "test-model"} {
			if !slices.Contains(strings.Fields(row), name) || strings.Contains(row, "tokens") {
				continue
			}
			if strings.Contains(row, "★") {
				name = "★" + name
			}
			order = append(order, name)
		}
	}
	if got := strings.Join(order, " "); !strings.Contains(got, "★gpt-4.1 ★far-model test-model aaa-model") {
		t.Errorf("the list is %q:\n%s", got, s.Text())
	}
	c.Type("gpt")
	c.until(func(s terminal.Screen) bool { return !s.Contains("aaa-model") && s.Contains("gpt-4.1") })
	c.Press("enter")
	c.wait("gpt-4.1  ")
	c.quit()
}
