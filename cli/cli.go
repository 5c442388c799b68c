package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"

	backgroundcli "jcode/cli/background"
	"jcode/cli/config"
	"jcode/cli/console"
	workercli "jcode/cli/worker"
	worktreescli "jcode/cli/worktrees"
	"jcode/internal/commandline"
	"jcode/internal/proc"
	"jcode/internal/system"
)

// Streams are what a command reads and writes, and what else it knows of the process.
type Streams struct {
	console.Streams

	// Managed is where the settings of this machine's administrator are; the zero value is the system's place, which
	// nothing but a test replaces.
	Managed config.ManagedPlace

	managed *config.Managed         // nil for none
	args    []string                // of the command line
	dir     string                  // where the process began, as the command line's paths mean it
	held    *backgroundcli.Terminal // nil in a terminal of its own
}

// System returns the process's own streams. What goes to a terminal is cleaned.
func System() Streams { return Streams{Streams: console.System()} }

// Main runs jcode with the arguments after the program's name and returns the exit code.
func Main(args []string, std Streams) int {
	if code, done := internalCommand(args); done {
		return code
	}
	if len(args) > 0 && args[0] == backgroundcli.Command {
		return inBackground(args[1:], std)
	}
	if len(args) > 0 && args[0] == workercli.Command {
		return inTask(args[1:], std)
	}
	return begin(args, std)
}

// begin runs an ordinary command line.
func begin(args []string, std Streams) int {
	if len(args) == 1 && args[0] == "--version" { // it must be fast
		fmt.Fprintln(std.Out, "jcode "+Version())
		return console.ExitDone
	}
	if code, done := proc.AsInit(); done {
		return code
	}
	if err := checkSpace(); err != nil {
		return report(err, std.Err)
	}
	ctx, sig := console.WithSignals(context.Background(), os.Exit)
	defer sig.Stop()
	err := run(ctx, args, std)
	if code := sig.Code(); code != 0 {
		return code
	}
	return report(err, std.Err)
}

// needSpace is the address space that jcode's own work takes, in bytes, besides that of its threads.
const needSpace = 96 << 20

// checkSpace refuses to begin under a limit of address space that would end the program in the middle of its work.
// With a lower limit the runtime of Go ends the program before this runs.
func checkSpace() error {
	limit, left, limited := system.AddressSpace()
	if !limited || left >= needSpace+system.ThreadSpace {
		return nil
	}
	return console.Usage("the address space of this process is limited to %d MB (ulimit -v), of which %d MB are left: Go reserves over a gigabyte of it at the start, without using it. "+
		"Raise the limit (ulimit -v 4000000), or limit the memory that is used instead: systemd-run --user --scope -p MemoryMax=1G jcode", limit>>20, left>>20)
}

// report prints an error that was not shown yet and returns its exit code.
func report(err error, stderr io.Writer) int {
	if err == nil {
		return console.ExitDone
	}
	var exit *console.Exit
	if !errors.As(err, &exit) {
		exit = &console.Exit{Code: console.ExitUsage, Err: err}
	}
	if !exit.Silent {
		fmt.Fprintln(stderr, "jcode: "+exit.Error())
	}
	return exit.Code
}

// commandLine returns the command line that fills g.
func commandLine(g *grammar) (*commandline.Command, error) {
	line, err := commandline.Of("jcode", g)
	if err != nil {
		return nil, fmt.Errorf("command line: %w", err)
	}
	return line, nil
}

// run parses the command line and runs its command.
func run(ctx context.Context, args []string, std Streams) error {
	if len(args) > 0 && args[0] == completionCommand {
		return complete(ctx, args[1:], std)
	}
	if len(args) == 1 && (args[0] == "help" || args[0] == "version") { // such a single word is not a prompt
		args = []string{"--" + args[0]}
	}
	var g grammar
	f := &g.flags
	line, err := commandLine(&g)
	if err != nil {
		return err
	}
	if advice := noCommand(line, args); advice != "" {
		return console.Usage("%s", advice)
	}
	chosen, err := line.Parse(prepare(args))
	if errors.Is(err, commandline.ErrHelp) {
		return printHelp(chosen, std)
	}
	if err != nil {
		err = console.Usage("%w (jcode --help lists commands and flags)", err)
		sayFailure(err, formatIn(args), std)
		return err
	}
	if f.Version {
		fmt.Fprintln(std.Out, "jcode "+Version())
		return nil
	}
	if std, err = std.underManaged(); err != nil {
		return err
	}
	std.args = args
	if std.dir, err = os.Getwd(); err != nil {
		return console.Usage("working folder: %w", err)
	}
	err = enterFolder(f.Cwd)
	if err == nil {
		err = carryOut(ctx, chosen, f, std)
	}
	switch chosen.Name {
	case "chat", "demo":
		if f.Print {
			sayFailure(err, f.OutputFormat, std)
		}
	}
	return err
}

// underManaged reads the settings of this machine's administrator. A fault in them is an error: nothing runs then.
func (s Streams) underManaged() (Streams, error) {
	var err error
	s.managed, err = config.ReadManaged(s.Managed)
	return s, console.AsUsage(err)
}

// enterFolder changes to the folder of -C; "" changes nothing.
func enterFolder(dir string) error {
	if dir == "" {
		return nil
	}
	if err := os.Chdir(dir); err != nil {
		return console.Usage("-C: %w", err)
	}
	return nil
}

// formatIn finds the output format of a headless run in a command line that could not be
// parsed.
func formatIn(args []string) string {
	format, headless := "text", false
	for i, a := range args {
		if a == "--" {
			break
		}
		headless = headless || a == "-p" || a == "--print"
		if value, ok := strings.CutPrefix(a, "--output-format="); ok {
			format = value
		} else if a == "--output-format" && i+1 < len(args) {
			format = args[i+1]
		}
	}
	if !headless {
		return "text"
	}
	return format
}

// pickSession is the value of --resume that means "let me choose".
const pickSession = "?"

// prepare adds the value to a bare -r or --resume, -w or --worktree: flags have no optional values. A word that
// follows -r is part of it; takeSession finds out whether it names a session. One that follows -w is, if it can be a
// name: a prompt has blanks.
func prepare(args []string) []string {
	out := make([]string, 0, len(args)+1)
	for i := 0; i < len(args); i++ {
		a := args[i]
		if a == "--" {
			return append(out, args[i:]...)
		}
		switch {
		case a == "-r" || a == "--resume":
			named := ""
			if i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") {
				i++
				named = args[i]
			}
			out = append(out, "--resume="+pickSession+named)
		case strings.HasPrefix(a, "-r="):
			out = append(out, "--resume="+a[3:])
		case a == "-w" || a == "--worktree":
			named := worktreescli.AnyName
			if i+1 < len(args) && worktreescli.IsName(args[i+1]) {
				i++
				named = args[i]
			}
			out = append(out, "--worktree="+named)
		case strings.HasPrefix(a, "-w="):
			out = append(out, "--worktree="+a[3:])
		default:
			out = append(out, a)
		}
	}
	return out
}

// version is the release that this source becomes.
const version = "0.2.0"

// Version returns the release, followed by the commit if the build knows it.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return version
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 9 {
			return version + "+" + s.Value[:9]
		}
	}
	return version
}
