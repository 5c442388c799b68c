package pursuit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"jcode/agent/event"
	"jcode/internal/atomicfile"
	"jcode/internal/paths"
	"jcode/internal/text"
	"jcode/internal/tidy"
)

// maxAge is how long a loop and a goal of a session that is not open are kept.
const maxAge = 7 * 24 * time.Hour

// maxFile bounds what is read of them, in bytes.
const maxFile = 1 << 20

// state is what goes on in a conversation.
type state struct {
	Loop *loop `json:"loop,omitempty"`
	Goal *goal `json:"goal,omitempty"`
}

// loop repeats a prompt.
type loop struct {
	Every  time.Duration `json:"every"`
	Prompt string        `json:"prompt"`
	Next   time.Time     `json:"next"`
	Times  int           `json:"times"`
	due    bool          // its time has come while a turn ran
}

// goal is pursued turn by turn.
type goal struct {
	Target
	Turns   int                `json:"turns"`
	Worked  time.Duration      `json:"worked"` // in turns
	Tokens  int                `json:"tokens"`
	Cost    float64            `json:"cost"`
	Said    string             `json:"said,omitempty"`   // of the last judgement
	Paused  string             `json:"paused,omitempty"` // why it does not go on by itself
	errors  int                // in a row
	retry   time.Time          // when the turn that failed is tried again
	judging context.CancelFunc // ends the judgement that is being made, nil for none
}

// Target is a goal with its limits.
type Target struct {
	Text string `json:"text"`
	// Command, when set, judges: the goal holds when it succeeds.
	Command  string  `json:"command,omitempty"`
	MaxTurns int     `json:"max_turns"`
	MaxCost  float64 `json:"max_cost,omitempty"`
}

// name names a goal in texts.
func (t Target) name() string {
	if t.Command != "" {
		return "until " + t.Command
	}
	return text.Truncate(text.Headline(text.Visible(t.Text)), 60, "…")
}

// limits returns the limits in words.
func (t Target) limits() string {
	s := "at most " + text.Count(t.MaxTurns, "turn")
	if t.MaxCost > 0 {
		s += " and " + text.Dollars(t.MaxCost)
	}
	return s
}

// count adds what was used between two moments.
func (g *goal) count(from, to event.Usage) {
	g.Tokens += tokens(to) - tokens(from)
	g.Cost += to.Cost - from.Cost
}

func tokens(u event.Usage) int { return u.Total.Input + u.Total.Output }

func (g *goal) used() string {
	return fmt.Sprintf("%s, %s, %d tokens, %s", text.Count(g.Turns, "turn"), g.Worked.Round(time.Second), g.Tokens, text.Dollars(g.Cost))
}

// file returns the file of a session, "" for one that is not kept.
func file(dir, session string) string {
	if dir == "" || session == "" || !filepath.IsLocal(session) {
		return ""
	}
	return filepath.Join(dir, session+".json")
}

// load reads what was going on in a session.
func load(dir, session string) (s state, err error) {
	path := file(dir, session)
	if path == "" {
		return s, nil
	}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && time.Since(info.ModTime()) > maxAge {
		return s, nil
	}
	data, err := paths.ReadFile(path, maxFile)
	if err == nil {
		err = json.Unmarshal(data, &s)
	}
	if err != nil {
		return state{}, fmt.Errorf("the loop and the goal of this session can't be read: %w", err)
	}
	return s, nil
}

// save writes what goes on in a session; nothing leaves no file.
func (s state) save(dir, session string) error {
	path := file(dir, session)
	if path == "" {
		return nil
	}
	if s.Loop == nil && s.Goal == nil {
		if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	data, err := json.Marshal(s)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	tidy.Folder(dir, tidy.Limits{Age: maxAge})
	return atomicfile.Write(path, data, atomicfile.Options{Perm: 0o600})
}

// Forget removes what was going on in a session that is deleted.
func Forget(dir, session string) error { return state{}.save(dir, session) }

// status is the part of the status line.
func (s state) status() string {
	var parts []string
	if g := s.Goal; g != nil {
		if g.Paused != "" {
			parts = append(parts, "goal paused")
		} else {
			parts = append(parts, fmt.Sprintf("goal %d/%d", g.Turns, g.MaxTurns))
		}
	}
	if s.Loop != nil {
		parts = append(parts, "loop "+s.Loop.Next.Format("15:04"))
	}
	return strings.Join(parts, " · ")
}

// page shows a goal.
func (g *goal) page() string {
	lines := []string{g.name(), "", "used: " + g.used(), "limits: " + g.limits()}
	if g.Said != "" {
		lines = append(lines, "last check: "+text.Visible(g.Said))
	}
	if g.Paused != "" {
		lines = append(lines, "paused: "+text.Visible(g.Paused), "", "/goal continue goes on, /goal stop ends it.")
	} else {
		lines = append(lines, "", "/goal stop ends it, and so does esc while a turn runs.")
	}
	return strings.Join(lines, "\n")
}

func (l *loop) page() string {
	return fmt.Sprintf("every %s: %s\n\nnext at %s, %s so far\n\n/loop stop ends it, and so does esc while a turn runs.",
		l.Every, text.Visible(l.Prompt), l.Next.Format("15:04:05"), text.Count(l.Times, "time"))
}
