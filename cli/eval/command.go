package eval

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"jcode/cli/console"

	"jcode/internal/launch"
	"jcode/internal/proc"
)

// Given is what `jcode eval` is given: the streams, and the model and mode of the command line.
type Given struct {
	console.Streams
	Model, Mode string
}

// Command is `jcode eval`.
type Command interface {
	Run(ctx context.Context, std Given) error
}

// Cmd tries out tasks with a model, or compares set-ups.
type Cmd struct {
	Folder string   `arg:"" help:"A task, or a folder of tasks: each a folder with task.json."`
	Setup  []string `help:"Flags of a set-up, as in --setup='-m openai/gpt-5.2'; repeatable, to compare. Without one, the flags of this command line." placeholder:"FLAGS" sep:"none"`
	Runs   int      `default:"3" help:"How often each task is run with each set-up." placeholder:"N"`
	JSON   bool     `name:"json" help:"Print the report, with every run, as JSON."`
	Keep   string   `help:"Keep the folders of the runs in this folder." placeholder:"FOLDER"`
}

// Run runs the tasks and prints what they came to.
func (c *Cmd) Run(ctx context.Context, std Given) error {
	if c.Runs < 1 {
		return console.Usage("--runs: a number above 0")
	}
	tasks, err := Read(c.Folder)
	if err != nil {
		return console.Usage("%w", err)
	}
	self, err := os.Executable()
	if err != nil {
		return console.Usage("%w", err)
	}
	keep := ""
	if c.Keep != "" {
		if keep, err = filepath.Abs(c.Keep); err == nil {
			err = os.MkdirAll(keep, 0o755)
		}
		if err != nil {
			return console.Usage("--keep: %w", err)
		}
	}
	starter := proc.NewLauncher()
	defer starter.Close()
	runs, err := Do(ctx, Options{
		Tasks: tasks, Setups: c.setups(std), Runs: c.Runs, Keep: keep, Agent: []string{self, "--private"},
		Start: program(starter), Clone: cloned,
		Ended: func(r Run) {
			state := "passed"
			if !r.Passed {
				state = "failed"
			}
			fmt.Fprintf(std.Err, "%s %s, run %d with %s: %.1f s%s\n", state, r.Task, r.Number, r.Setup, float64(r.Millis)/1000, said(r.Error))
		},
	})
	if err != nil && len(runs) == 0 {
		if ctx.Err() != nil {
			return console.Interrupted()
		}
		return console.Usage("%w", err)
	}
	report := Sum(runs)
	if c.JSON {
		return errors.Join(err, console.PrintJSON(std.Out, report))
	}
	fmt.Fprint(std.Out, report.Text())
	return err
}

func said(why string) string {
	if why == "" {
		return ""
	}
	return ": " + why
}

// setups returns the set-ups that are compared. Relative paths of scripts are those of this folder.
func (c *Cmd) setups(std Given) []Setup {
	list := c.Setup
	if len(list) == 0 {
		list = []string{strings.TrimSpace("-m " + std.Model)}
		if std.Model == "" {
			list[0] = ""
		}
	}
	var out []Setup
	for _, text := range list {
		words := strings.Fields(text)
		for i, w := range words {
			if file, ok := strings.CutPrefix(w, "replay:"); ok {
				if abs, err := filepath.Abs(file); err == nil {
					words[i] = "replay:" + abs
				}
			}
		}
		if !slices.ContainsFunc(words, func(w string) bool { return w == "--mode" || strings.HasPrefix(w, "--mode=") }) {
			words = append(words, "--mode", cmp.Or(std.Mode, "auto"))
		}
		out = append(out, Setup{Name: cmp.Or(text, "default"), Words: words})
	}
	return out
}

// maxOutput bounds what is kept of a program's output.
const maxOutput = 4 << 20

// program returns what runs a program of an evaluation: with everything that it starts it ends when its time is over.
func program(by *proc.Launcher) Program {
	return func(ctx context.Context, dir string, env []string, argv ...string) (string, int, error) {
		read, write, err := os.Pipe()
		if err != nil {
			return "", -1, err
		}
		defer func() { _ = read.Close() }() // it was read to its end
		p, err := by.Start(proc.Spec{Argv: argv, Dir: dir, Env: append(os.Environ(), env...), Stdout: write, Stderr: write})
		_ = write.Close() // the child has its own
		if err != nil {
			return "", -1, err
		}
		said := make(chan string, 1)
		go func() {
			out, _ := io.ReadAll(io.LimitReader(read, maxOutput)) // the pipe ends with the tree
			_, _ = io.Copy(io.Discard, read)
			said <- string(out)
		}()
		select {
		case <-p.Done():
		case <-ctx.Done():
		}
		stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		err = p.Stop(stopping, 5*time.Second)
		<-p.Done()
		return <-said, p.Exit().Code, err
	}
}

// cloned copies a repository.
func cloned(ctx context.Context, from, commit, dir string) error {
	git := launch.Git{}
	steps := [][]string{{"clone", "-q", "--", from, dir}}
	if commit != "" {
		steps = append(steps, []string{"-C", dir, "checkout", "-q", "--detach", commit})
	}
	for _, args := range steps {
		cmd, err := git.Remote(ctx, filepath.Dir(dir), args...)
		if err != nil {
			return err
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(string(out)))
		}
	}
	return nil
}
