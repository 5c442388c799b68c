package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"jcode/agent"
	"jcode/cli/tour"
	"jcode/internal/text"
	"jcode/tools"
)

// demoCmd is the offline tour: a scripted model drives the real loop over a temporary
// project, in a home of its own.
type demoCmd struct{}

// tourPace is the pause after each word of the script in the terminal.
const tourPace = 12 * time.Millisecond

// Run takes the tour; with -p it is printed, and its approvals are played.
func (c *demoCmd) Run(ctx context.Context, f *flags, std Streams) error {
	if _, err := exec.LookPath("go"); err != nil {
		return usageError("the tour runs the tests of a small Go project, and there is no go command: install Go")
	}
	jcode := ownProgram() // before the folder changes
	dir, err := os.MkdirTemp("", "jcode-tour-")
	if err != nil {
		return usageError("the tour's folder: %w", err)
	}
	defer func() {
		if err := os.RemoveAll(dir); err != nil {
			fmt.Fprintln(std.Err, "jcode: remove the tour's folder:", err)
		}
	}()
	project := filepath.Join(dir, "project")
	if err := os.Mkdir(project, 0o755); err != nil {
		return usageError("the tour's folder: %w", err)
	}
	if err := tour.WriteProject(project); err != nil {
		return usageError("%w", err)
	}
	if err := os.Chdir(project); err != nil {
		return usageError("the tour's folder: %w", err)
	}
	home := filepath.Join(dir, "home")
	getenv := std.Getenv
	std.Getenv = func(name string) string {
		switch name {
		case "JCODE_HOME":
			return home
		case "JCODE_RECORD", "JCODE_MODEL", "OPENAI_BASE_URL":
			return ""
		}
		return getenv(name)
	}
	f.Model, f.BaseURL, f.Continue, f.Resume, f.Fork = tourModel, "", false, "", false
	script, err := tour.Script(jcode, home)
	if err != nil {
		return usageError("%w", err)
	}
	play := tourPlay{script: script, env: goEnv(dir)}
	if f.Print {
		return c.print(ctx, f, std, play)
	}
	return c.show(ctx, f, std, play, tour.Prompt)
}

// tourPlay is what the tour plays with.
type tourPlay struct {
	script []byte
	env    map[string]string // for shell commands
}

// goEnv sets the go command's cache to one in the tour's folder where the person's own can't be
// used: in a container or under another account there may be no home folder.
func goEnv(dir string) map[string]string {
	if os.Getenv("GOCACHE") != "" {
		return nil
	}
	if cache, err := os.UserCacheDir(); err == nil && os.MkdirAll(cache, 0o755) == nil {
		if probe, err := os.MkdirTemp(cache, "jcode-"); err == nil {
			_ = os.Remove(probe) // it is empty
			return nil
		}
	}
	return map[string]string{"GOCACHE": filepath.Join(dir, "cache"), "GOPATH": filepath.Join(dir, "go")}
}

// ownProgram is the path by which jcode was started, so that it can start itself.
func ownProgram() string {
	path, err := exec.LookPath(os.Args[0])
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err == nil {
		return path
	}
	if path, err = os.Executable(); err == nil {
		return path
	}
	return os.Args[0]
}

// print plays the tour without a terminal UI.
func (c *demoCmd) print(ctx context.Context, f *flags, std Streams, play tourPlay) error {
	a, err := newApp(ctx, f, std)
	if err != nil {
		return err
	}
	defer a.close()
	a.models.script, a.env = play.script, play.env
	opt, err := a.options()
	if err != nil {
		return err
	}
	opt.Headless = false
	opt.Asker = tourAsker{std.Err}
	a.asker = opt.Asker
	conv, err := agent.New(opt)
	if err != nil {
		return a.startError(err)
	}
	defer conv.Close()
	sub := conv.Subscribe()
	defer sub.Close()
	a.board.attach(conv)
	a.startExtensions()
	fmt.Fprintln(std.Err, "jcode: the tour: a scripted model, real tools, a temporary project. Approvals are played.")
	fmt.Fprintf(std.Err, "jcode: prompt: %s\n", tour.Prompt)
	pr, out := newPrinter(f.OutputFormat, std)
	if f.OutputFormat == "text" {
		pr = &tourPrinter{printer: pr, notes: std.Err}
	}
	return runPrompt(ctx, conv, sub, agent.Prompt{Text: tour.Prompt}, pr, out, a.initLine(conv))
}

// tourAsker answers approvals as the tour's person would, and says so.
type tourAsker struct{ notes io.Writer }

// Ask approves once.
func (t tourAsker) Ask(_ context.Context, q tools.Question) (tools.Answer, error) {
	what := q.Heading()
	if q.Command != "" {
		what += ": " + q.Command
	}
	fmt.Fprintf(t.notes, "jcode: approval played: yes, once: %s\n", what)
	return tools.Answer{Scope: tools.AnswerOnce, Option: -1}, nil
}

// tourPrinter shows the calls of a printed tour too.
type tourPrinter struct {
	printer
	notes io.Writer
}

func (p *tourPrinter) event(ev agent.Event) {
	switch ev := ev.(type) {
	case agent.CallStart:
		fmt.Fprintf(p.notes, "  → %s %s\n", ev.Name, ev.Arguments)
	case agent.CallEnd:
		mark := "✓"
		if ev.Result.Failed {
			mark = "✗"
		}
		line := ev.Result.Display.Summary
		if line == "" {
			line = text.Headline(ev.Result.Text)
		}
		fmt.Fprintf(p.notes, "  %s %s: %s\n", mark, ev.Name, line)
	}
	p.printer.event(ev)
}
