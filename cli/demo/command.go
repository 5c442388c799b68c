package demo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"jcode/agent"
	"jcode/agent/event"
	"jcode/cli/console"
	printcli "jcode/cli/print"
	"jcode/cli/tour"
	"jcode/internal/filelock"
	"jcode/tools"
)

// Cmd is the offline tour: a scripted model drives the real loop over a temporary
// project, in a home of its own.
type Cmd struct{}

// Setup is what the tour is given.
type Setup struct {
	console.Streams
	Print  bool   // instead of a chat
	Format string // of what is printed
	// Open wires jcode for the tour, in the folder of its project.
	Open func(ctx context.Context, p *Play) (Opened, error)
}

// Opened is a jcode in which the tour is played. The caller closes it.
type Opened struct {
	// Begin begins the conversation of a printed tour; asker answers its questions.
	Begin func(asker tools.Asker) (*agent.Conversation, error)
	// Attach opens that conversation to all parts of jcode, which begin to work.
	Attach func(conv *agent.Conversation)
	// Init describes the run before it begins.
	Init func(ctx context.Context, conv *agent.Conversation) printcli.Init
	// Chat runs the terminal UI, with a prompt.
	Chat  func(ctx context.Context, prompt string) error
	Close func()
}

// pace is the pause after each word of the script in the terminal.
const pace = 12 * time.Millisecond

// Run plays the tour; with -p it is printed, and its approvals are simulated.
func (Cmd) Run(ctx context.Context, std Setup) error {
	if _, err := exec.LookPath("sh"); err != nil {
		return console.Usage("the tour runs a shell script, and there is no sh command")
	}
	jcode := ownProgram() // before the folder changes
	sweep(os.TempDir())
	dir, err := os.MkdirTemp("", folders)
	if err != nil {
		return console.Usage("the tour's folder: %w", err)
	}
	lock, err := filelock.Try(filepath.Join(dir, running))
	if err != nil && !errors.Is(err, filelock.ErrNone) {
		return console.Usage("the tour's folder: %w", err)
	}
	defer func() {
		if lock != nil {
			_ = lock.Unlock() // Windows removes no open file
		}
		if err := os.RemoveAll(dir); err != nil {
			fmt.Fprintln(std.Err, "jcode: remove the tour's folder:", err)
		}
	}()
	home := filepath.Join(dir, "home")
	if err := enter(filepath.Join(dir, "project"), home, jcode); err != nil {
		return console.Usage("the tour's folder: %w", err)
	}
	board, err := tour.OpenBoard(ctx)
	if err != nil {
		return console.Usage("%w", err)
	}
	defer board.Close()
	play := newPlay(std, board, home, jcode)
	if play.Script, err = tour.Script(tour.Places{Program: jcode, Command: filepath.Base(jcode), Home: home, Board: board.Address()}); err != nil {
		return console.Usage("%w", err)
	}
	if std.Print {
		return printTour(ctx, std, play)
	}
	return show(ctx, std, play)
}

// enter creates the tour's project and home, and enters the project. Sign-ins of the tour never reach the
// person's keyring.
func enter(project, home, jcode string) error {
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

// printTour plays the tour without a terminal UI.
func printTour(ctx context.Context, std Setup, play *Play) error {
	opened, err := std.Open(ctx, play)
	if err != nil {
		return err
	}
	defer opened.Close()
	conv, err := opened.Begin(playedAsker{std.Err})
	if err != nil {
		return err
	}
	defer conv.Close()
	sub := conv.Subscribe()
	defer sub.Close()
	opened.Attach(conv)
	fmt.Fprintln(std.Err, "jcode: the tour: a scripted model, real tools, a temporary project. Approvals and the sign-in are played; nothing is sent anywhere.")
	fmt.Fprintf(std.Err, "jcode: prompt: %s\n", tour.Prompt)
	pr, out := printcli.New(std.Format, std.Streams)
	if std.Format == "text" {
		pr = &printer{Printer: pr, notes: std.Err}
	}
	return printcli.Run(ctx, conv, sub, event.Prompt{Text: tour.Prompt}, &printcli.Wanted{}, pr, out, opened.Init(ctx, conv))
}

// show runs the tour in the terminal: the person answers the approvals.
func show(ctx context.Context, std Setup, play *Play) error {
	if !std.InIsTerminal || !std.OutIsTerminal {
		return console.Usage("the tour needs a terminal: jcode demo -p prints it instead")
	}
	script, err := tour.WithEnd(play.Script)
	if err != nil {
		return console.Usage("%w", err)
	}
	play.Script, play.Pace = script, pace
	opened, err := std.Open(ctx, play)
	if err != nil {
		return err
	}
	defer opened.Close()
	return opened.Chat(ctx, tour.Prompt)
}
