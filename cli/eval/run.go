package eval

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Setup is a way of running: the words that are added to the command line.
type Setup struct {
	Name  string
	Words []string
}

// Program runs one program in a folder until it ends, and returns what it printed. A program that ends with another code
// than 0 is no error.
type Program func(ctx context.Context, dir string, env []string, argv ...string) (out string, code int, err error)

// Options say what is run how often.
type Options struct {
	Tasks  []Task
	Setups []Setup
	Runs   int
	// Agent is the command line of the agent, to which a set-up and the prompt are added.
	Agent []string
	Start Program
	// Clone copies a repository at a commit, "" for the newest.
	Clone func(ctx context.Context, from, commit, dir string) error
	// Ended is called after each run; may be nil.
	Ended func(Run)
	// Keep is the folder in which the folders of runs are kept; "" removes them.
	Keep string
}

// Run is one run of a task.
type Run struct {
	Task   string `json:"task"`
	Setup  string `json:"setup"`
	Number int    `json:"run"`
	Passed bool   `json:"passed"`
	// Error says why the task could not be tried: it counts as not passed.
	Error    string   `json:"error,omitempty"`
	Exit     int      `json:"exit"`
	Steps    int      `json:"steps"`
	Input    int      `json:"input_tokens"`
	Cached   int      `json:"cached_tokens"`
	Output   int      `json:"output_tokens"`
	Cost     *float64 `json:"cost_usd"` // nil if it is unknown
	Millis   int64    `json:"duration_ms"`
	Check    string   `json:"check_output,omitempty"` // the end of it, of a check that failed
	Folder   string   `json:"folder,omitempty"`
	Response string   `json:"-"`
}

// Do runs every task with every set-up, the set-ups in turn, so that what changes with time strikes all of them alike.
func Do(ctx context.Context, o Options) ([]Run, error) {
	var out []Run
	for n := 1; n <= o.Runs; n++ {
		for _, t := range o.Tasks {
			for _, s := range o.Setups {
				r, err := o.one(ctx, t, s, n)
				if err != nil {
					return out, err
				}
				out = append(out, r)
				if o.Ended != nil {
					o.Ended(r)
				}
			}
		}
	}
	return out, nil
}

func (o Options) one(ctx context.Context, t Task, s Setup, n int) (Run, error) {
	r := Run{Task: t.Name, Setup: s.Name, Number: n}
	parent := o.Keep
	root, err := os.MkdirTemp(parent, fmt.Sprintf("jcode-eval-%s-%d-", t.Name, n))
	if err != nil {
		return r, err
	}
	if parent == "" {
		defer func() { _ = os.RemoveAll(root) }() // what a program left behind stays in the temporary folder
	} else {
		r.Folder = root
	}
	dir := filepath.Join(root, "work")
	if err := t.prepare(dir, func(from, commit, dir string) error { return o.Clone(ctx, from, commit, dir) }); err != nil {
		return r, fmt.Errorf("task %s: %w", t.Name, err)
	}
	env := []string{"TASK=" + t.Folder}
	if t.Setup != "" {
		if said, code, err := o.Start(ctx, dir, env, "sh", "-c", t.Setup); err != nil || code != 0 {
			return r, errors.Join(fmt.Errorf("task %s: its setup failed with exit code %d: %s", t.Name, code, tail(said)), err)
		}
	}
	limited, cancel := context.WithTimeout(ctx, t.limit)
	began := time.Now()
	argv := append(append(append([]string{}, o.Agent...), s.Words...), "--output-format", "stream-json", "-p", "--", t.Prompt)
	said, code, err := o.Start(limited, dir, nil, argv...)
	r.Millis, r.Exit = time.Since(began).Milliseconds(), code
	late := limited.Err() != nil
	cancel()
	switch {
	case ctx.Err() != nil:
		return r, context.Cause(ctx)
	case late:
		r.Error = fmt.Sprintf("the agent did not end within %s", t.limit)
	case err != nil:
		return r, err
	case code == 2:
		return r, fmt.Errorf("set-up %q: %s", s.Name, tail(said))
	}
	r.read(said)
	checked, code, err := o.Start(ctx, dir, env, "sh", "-c", t.Check)
	if err != nil {
		return r, err
	}
	if r.Passed = code == 0 && !late; code != 0 {
		r.Check = tail(checked)
	}
	return r, nil
}

// read takes the counts from the line that the agent ends with.
func (r *Run) read(said string) {
	for _, line := range strings.Split(said, "\n") {
		var end struct {
			Type  string
			Error string
			Steps int
			Usage struct {
				Input  int `json:"input_tokens"`
				Output int `json:"output_tokens"`
				Cached int `json:"cached_tokens"`
			}
			Cost *float64 `json:"cost_usd"`
		}
		if json.Unmarshal([]byte(line), &end) != nil {
			continue
		}
		if end.Type == "usage" {
			r.Cost = end.Cost // of the whole session
		}
		if end.Type == "result" {
			r.Steps, r.Input, r.Output, r.Cached = end.Steps, end.Usage.Input, end.Usage.Output, end.Usage.Cached
			if r.Error == "" {
				r.Error = end.Error
			}
		}
	}
}

// tail returns the end of an output.
func tail(s string) string {
	s = strings.TrimSpace(s)
	if len(s) > 500 {
		s = "…" + strings.ToValidUTF8(s[len(s)-500:], "")
	}
	return s
}
