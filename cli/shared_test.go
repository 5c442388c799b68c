//go:build linux || darwin

package cli_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"jcode/internal/testkit/modeltest"
	"jcode/session"
)

// meeting lets two parties begin each round at the same moment.
type meeting struct {
	mu   sync.Mutex
	came map[int]chan struct{}
}

// join waits until the other party has come to the round too.
func (m *meeting) join(ctx context.Context, round int) {
	m.mu.Lock()
	if m.came == nil {
		m.came = map[int]chan struct{}{}
	}
	other, second := m.came[round]
	if !second {
		other = make(chan struct{})
		m.came[round] = other
	}
	m.mu.Unlock()
	if second {
		close(other)
		return
	}
	select {
	case <-other:
	case <-ctx.Done():
	}
}

// sharer plays the models of two sessions, of which one runs sed -i and the other edits, each round in the same
// new file.
type sharer struct {
	ctx    context.Context
	rounds int
	start  meeting

	mu    sync.Mutex
	told  map[string][]string // by side: what its model has read since the prompt
	steps map[string]int
}

func (s *sharer) answer(r modeltest.Request) (modeltest.Reply, bool) {
	side := ""
	var read []string
	for _, m := range r.Messages {
		switch {
		case m.Role == "user" && m.Content == "sed", m.Role == "user" && m.Content == "edit":
			side = m.Content
		case m.Role == "user" || m.Role == "tool":
			read = append(read, m.Content)
		}
	}
	if side == "" {
		return modeltest.Text("a title"), true
	}
	s.mu.Lock()
	round := s.steps[side]
	s.steps[side]++
	s.told[side] = read
	s.mu.Unlock()
	switch {
	case round > s.rounds:
		return modeltest.Text("done"), true
	case round == s.rounds: // what is known only now is told at this step
		s.start.join(s.ctx, round)
		return modeltest.Calls(modeltest.Call{Name: "ls", Args: `{"path":"."}`}), true
	}
	s.start.join(s.ctx, round)
	if side == "sed" {
		return modeltest.Calls(modeltest.Call{Name: "exec", Args: fmt.Sprintf(`{"cmd":"sed -i.bak s/first/FIRST/ f%d"}`, round)}), true
	}
	time.Sleep(time.Duration(rand.IntN(12_000)) * time.Microsecond) // so that the edit meets each part of the command
	return modeltest.Calls(modeltest.Call{Name: "edit", Args: fmt.Sprintf(`{"path":"f%d","old_string":"last","new_string":"LAST"}`, round)}), true
}

// A command of one session and the edits of another in the same file at the same moment: what is lost is told
// to both, and an undo brings it back.
func TestNoEditIsLostToACommandWithoutAWord(t *testing.T) {
	t.Parallel()
	rounds := 100
	if testing.Short() {
		rounds = 12
	}
	dir, home := t.TempDir(), t.TempDir()
	content := "first\n" + strings.Repeat("between\n", 20_000) + "last\n"
	for i := range rounds {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint("f", i)), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	model := &sharer{ctx: ctx, rounds: rounds, told: map[string][]string{}, steps: map[string]int{}}
	srv := modeltest.New(t)
	srv.Route(model.answer)
	var both sync.WaitGroup
	for _, side := range []string{"sed", "edit"} {
		cmd := jcode(ctx, t, dir, home, srv.URL(), "-p", "--mode", "yolo", "--max-steps", fmt.Sprint(rounds+5), side)
		both.Go(func() {
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%s: %v\n%s", side, err, out)
			}
		})
	}
	both.Wait()
	if t.Failed() {
		return
	}
	has := func(side, name, words string) bool {
		for _, said := range model.told[side] {
			for line := range strings.Lines(said) {
				if i := strings.Index(line, words); i >= 0 && strings.Contains(strings.NewReplacer(",", " ", ";", " ", ":", " ").Replace(line[i:])+" ", " "+name+" ") {
					return true
				}
			}
		}
		return false
	}
	held := func(name string) string {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	report := func(name, format string, args ...any) {
		t.Helper()
		t.Errorf(format, args...)
		for _, side := range []string{"sed", "edit"} {
			for _, said := range model.told[side] {
				if strings.Contains(said+" ", name) {
					t.Logf("%s was told: %.600s", side, said)
				}
			}
		}
	}
	var lost []string
	for i := range rounds {
		name := fmt.Sprint("f", i)
		now := held(name)
		if !strings.Contains(now, "FIRST\n") {
			report(name, "%s: what the command did is lost", name)
		}
		gone := !strings.Contains(now, "LAST\n") && has("edit", name, "edited")
		if gone {
			lost = append(lost, name)
		}
		if told := has("sed", name, "wrote over it what it had read before"); told != gone {
			report(name, "%s: the edit is lost: %v, and the session of the command is told so: %v", name, gone, told)
		}
		if told := has("edit", name, "your change is no longer in"); told != gone {
			report(name, "%s: the edit is lost: %v, and its session is told so: %v", name, gone, told)
		}
	}
	t.Logf("%d of %d edits were overwritten", len(lost), rounds)
	if len(lost) == 0 {
		return
	}
	store, err := session.Open(t.Context(), filepath.Join(home, "jcode.db"), session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	all, err := store.List(t.Context(), session.Filter{All: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		if rows, err := store.History().All(t.Context(), s.ID); err != nil || len(rows) == 0 || rows[0].Text() != "sed" {
			continue
		}
		if _, err := store.Checkpoints().Undo(t.Context(), s.ID); err != nil {
			t.Error(err)
		}
	}
	for _, name := range lost {
		if !strings.Contains(held(name), "LAST\n") {
			t.Errorf("%s: an undo does not bring the edit back", name)
		}
	}
}
