package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"jcode/agent"
	"jcode/agent/event"
	"jcode/cli/console"
	modelscli "jcode/cli/models"
	printcli "jcode/cli/print"
	"jcode/cli/tour"
	"jcode/internal/text"
	"jcode/tools"
)

// demoCmd is the offline tour: a scripted model drives the real loop over a temporary
// project, in a home of its own.
type demoCmd struct{}

// tourPace is the pause after each word of the script in the terminal.
const tourPace = 12 * time.Millisecond

// Run plays the tour; with -p it is printed, and its approvals are simulated.
func (c *demoCmd) Run(ctx context.Context, f *flags, std Streams) error {
	if _, err := exec.LookPath("sh"); err != nil {
		return console.Usage("the tour runs a shell script, and there is no sh command")
	}
	jcode := ownProgram() // before the folder changes
	dir, err := os.MkdirTemp("", "jcode-tour-")
	if err != nil {
		return console.Usage("the tour's folder: %w", err)
	}
	defer func() {
		if err := os.RemoveAll(dir); err != nil {
			fmt.Fprintln(std.Err, "jcode: remove the tour's folder:", err)
		}
	}()
	home := filepath.Join(dir, "home")
	if err := enterTour(filepath.Join(dir, "project"), home, jcode); err != nil {
		return console.Usage("the tour's folder: %w", err)
	}
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
	f.Model, f.BaseURL, f.Continue, f.Resume, f.Fork = modelscli.ScriptName, "", false, "", false
	board, err := tour.OpenBoard(ctx)
	if err != nil {
		return console.Usage("%w", err)
	}
	defer board.Close()
	play := &tourPlay{board: board, env: map[string]string{"JCODE_HOME": home, "PATH": filepath.Dir(jcode) + string(os.PathListSeparator) + getenv("PATH")}}
	if play.script, err = tour.Script(tour.Places{Program: jcode, Command: filepath.Base(jcode), Home: home, Board: board.Address()}); err != nil {
		return console.Usage("%w", err)
	}
	if f.Print {
		return c.print(ctx, f, std, play)
	}
	return c.show(ctx, f, std, play, tour.Prompt)
}

// enterTour creates the tour's project and home, and enters the project. Sign-ins of the tour never reach the
// person's keyring.
func enterTour(project, home, jcode string) error {
	settings, err := tour.Settings(jcode)
	if err != nil {
		return err
	}
	for _, folder := range []string{project, home} {
		if err := os.Mkdir(folder, 0o700); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(home, "config.json"), settings, 0o600); err != nil {
		return err
	}
	if err := tour.WriteProject(project); err != nil {
		return err
	}
	if err := os.Setenv("JCODE_MCP_TOKENS", "file"); err != nil {
		return err
	}
	return os.Chdir(project)
}

// ownProgram returns the path by which jcode was started, so that it can start itself.
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
func (c *demoCmd) print(ctx context.Context, f *flags, std Streams, play *tourPlay) error {
	a, err := newTourApp(ctx, f, std, play)
	if err != nil {
		return err
	}
	defer a.close()
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
	a.board.Attach(conv)
	a.startExtensions()
	fmt.Fprintln(std.Err, "jcode: the tour: a scripted model, real tools, a temporary project. Approvals and the sign-in are played; nothing is sent anywhere.")
	fmt.Fprintf(std.Err, "jcode: prompt: %s\n", tour.Prompt)
	pr, out := printcli.New(f.OutputFormat, std.Streams)
	if f.OutputFormat == "text" {
		pr = &tourPrinter{Printer: pr, notes: std.Err}
	}
	return printcli.Run(ctx, conv, sub, event.Prompt{Text: tour.Prompt}, &printcli.Wanted{}, pr, out, a.initLine(ctx, conv))
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

// tourPrinter also shows the calls of a printed tour, with what commands print and what a language server
// finds.
type tourPrinter struct {
	printcli.Printer
	notes io.Writer
}

func (p *tourPrinter) Event(ev event.Event) {
	switch ev := ev.(type) {
	case event.CallStart:
		fmt.Fprintf(p.notes, "  → %s %s\n", ev.Name, ev.Arguments)
	case event.CallEnd:
		mark := "✓"
		if ev.Result.Failed {
			mark = "✗"
		}
		line := ev.Result.Display.Summary
		if line == "" {
			line = text.Headline(ev.Result.Text)
		}
		fmt.Fprintf(p.notes, "  %s %s: %s\n", mark, ev.Name, line)
		more := ev.Result.Display.Found
		if ev.Name == "exec" {
			more = ev.Result.Text
		}
		for _, line := range strings.Split(strings.TrimSpace(more), "\n") {
			if line != "" {
				fmt.Fprintf(p.notes, "      %s\n", line)
			}
		}
	}
	p.Printer.Event(ev)
}

// show runs the tour in the terminal: the person answers the approvals.
func (c *demoCmd) show(ctx context.Context, f *flags, std Streams, play *tourPlay, prompt string) error {
	if !std.InIsTerminal || !std.OutIsTerminal {
		return console.Usage("the tour needs a terminal: jcode demo -p prints it instead")
	}
	script, err := tour.WithEnd(play.script)
	if err != nil {
		return console.Usage("%w", err)
	}
	play.script, play.pace = script, tourPace
	a, err := newTourApp(ctx, f, std, play)
	if err != nil {
		return err
	}
	defer a.close()
	return a.chat(ctx, prompt)
}
