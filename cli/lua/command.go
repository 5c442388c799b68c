package luacli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/google/uuid"

	"jcode/cli/console"
	"jcode/cli/core"
	"jcode/internal/text"
	"jcode/lua"
	"jcode/tools"
)

// Cmd writes, checks and runs Lua without a model.
type Cmd struct {
	New   newCmd   `cmd:""`
	Check checkCmd `cmd:""`
	Run   runCmd   `cmd:""`
	Stubs stubsCmd `cmd:""`
}

// Setup is what the commands of `jcode lua` are given.
type Setup struct {
	console.Streams
	Off bool // --no-lua
	// Places finds where scripts of the project and of the person are; nothing is opened.
	Places func(ctx context.Context) (root, config string, err error)
	// Around opens what a check compares names with. The caller calls done, also after an error.
	Around func(ctx context.Context) (around lua.Around, done func(), err error)
	// Open wires jcode for a single call. asker answers questions; nil leaves them unanswered.
	Open func(ctx context.Context, asker tools.Asker) (Opened, error)
}

// Opened is a jcode that can call a Lua tool. The caller closes it.
type Opened struct {
	Scripts *Scripts
	// Connect connects MCP servers until release is called. It is nil with --no-mcp.
	Connect func(ctx context.Context, names []string) (release func(), err error)
	Close   func()
}

// Command is a command of `jcode lua`.
type Command interface {
	Run(ctx context.Context, std Setup) error
}

type newCmd struct {
	Name   string `arg:"" help:"Name of the tool or plugin."`
	User   bool   `help:"For all projects, in the configuration folder."`
	Plugin bool   `help:"A plugin instead of a tool."`
}

// Run writes the files and prints their paths; it never overwrites.
func (c *newCmd) Run(ctx context.Context, std Setup) error {
	base, config, err := std.Places(ctx)
	if err != nil {
		return err
	}
	write := lua.NewTool
	if c.User {
		base = config
	}
	if c.Plugin {
		write = lua.NewPlugin
	}
	paths, err := write(base, c.Name, c.User)
	if err != nil {
		return console.Usage("%w", err)
	}
	for _, p := range paths {
		fmt.Fprintln(std.Out, p)
	}
	return nil
}

type checkCmd struct {
	Dir string `arg:"" help:"A tool folder, a folder of them, a plugin, or a script."`
}

// Run prints each fault as file:line: message.
func (c *checkCmd) Run(ctx context.Context, std Setup) error {
	around, done, err := std.Around(ctx)
	defer done()
	if err != nil {
		fmt.Fprintln(std.Err, "jcode: names are not compared with those of builtin tools:", err)
	}
	problems, err := lua.Check(ctx, c.Dir, around)
	if err != nil {
		return console.Usage("%w", err)
	}
	for _, p := range problems {
		fmt.Fprintln(std.Out, text.Clean(p))
	}
	if len(problems) > 0 {
		return &console.Exit{Code: 1, Silent: true, Err: fmt.Errorf("%d faults", len(problems))}
	}
	fmt.Fprintf(std.Err, "%s: no faults\n", text.Visible(c.Dir))
	return nil
}

type stubsCmd struct {
	File string `arg:"" optional:"" default:"jcode.d.lua" help:"Where to write; - for standard output."`
}

// Run writes the stubs.
func (c *stubsCmd) Run(_ context.Context, std Setup) error {
	if c.File == "-" {
		_, err := io.WriteString(std.Out, lua.Stubs())
		return err
	}
	if err := os.WriteFile(c.File, []byte(lua.Stubs()), 0o666); err != nil {
		return console.Usage("%w", err)
	}
	fmt.Fprintln(std.Out, c.File)
	return nil
}

type runCmd struct {
	Tool string   `arg:"" help:"Name of the tool."`
	Args []string `arg:"" optional:"" help:"Arguments as key=value; values that are JSON count as such where the tool wants no text." sep:"none"`
	JSON bool     `name:"json" help:"Print the whole result as JSON."`
}

// runResult is what `jcode lua run --json` prints.
type runResult struct {
	OK    bool            `json:"ok"`
	Text  string          `json:"text"`
	Kind  tools.ErrorKind `json:"error_kind,omitempty"`
	Data  any             `json:"data,omitempty"`
	Lines []string        `json:"log,omitempty"`
}

// Run calls the tool.
func (c *runCmd) Run(ctx context.Context, std Setup) error {
	if std.Off {
		return console.Usage("lua run: --no-lua is set")
	}
	args := map[string]string{}
	for _, kv := range c.Args {
		k, v, ok := strings.Cut(kv, "=")
		if !ok {
			return console.Usage("lua run: %q is not key=value", kv)
		}
		args[k] = v
	}
	raw, err := json.Marshal(args)
	if err != nil {
		return err
	}
	var asker tools.Asker
	if std.InIsTerminal {
		asker = terminalAsker{std.Streams}
	}
	a, err := std.Open(ctx, asker)
	if err != nil {
		return err
	}
	defer a.Close()
	scripts := a.Scripts
	scripts.room.Refresh()
	if items := scripts.room.Untrusted(); len(items) > 0 && std.InIsTerminal {
		scripts.ask(ctx, items)
	}
	e, ok, _ := scripts.registry.Snapshot(nil).Lookup(c.Tool)
	if !ok || e.Spec.Group != tools.GroupLua {
		return console.Usage("lua run: there is no Lua tool %q here (jcode tools lists what there is)", c.Tool)
	}
	if names := lua.Servers(scripts.room, c.Tool); len(names) > 0 && a.Connect != nil {
		limited, cancel := context.WithTimeout(ctx, core.PrintWait)
		release, err := a.Connect(limited, names)
		cancel()
		if err != nil {
			fmt.Fprintln(std.Err, "jcode: "+text.Visible(err.Error())) // the tool is told, too, when it calls the server
		}
		defer release()
	}
	caller := tools.Caller{Origin: tools.OriginScript, Mode: scripts.mode, Asker: scripts.person()}
	res := scripts.dispatcher.Dispatch(ctx, tools.Call{ID: uuid.NewString(), Name: c.Tool, Arguments: raw, Caller: caller}).Result
	if c.JSON {
		out := runResult{OK: !res.Failed, Text: res.Text, Kind: res.Kind, Data: res.Data}
		for _, l := range scripts.room.Log(c.Tool) {
			out.Lines = append(out.Lines, l.Text)
		}
		if err := console.PrintJSON(std.Out, out); err != nil {
			return err
		}
	} else {
		for _, l := range scripts.room.Log(c.Tool) {
			if l.Level != "debug" {
				fmt.Fprintln(std.Err, l.Text)
			}
		}
		w := std.Out
		if res.Failed {
			w = std.Err
		}
		fmt.Fprintln(w, text.Clean(res.Text))
	}
	switch {
	case !res.Failed:
		return nil
	case res.Kind == tools.KindLoad, res.Kind == tools.KindUntrusted, res.Kind == tools.KindInvalidArgs:
		return &console.Exit{Code: console.ExitUsage, Silent: true, Err: errors.New(res.Text)}
	}
	return &console.Exit{Code: 1, Silent: true, Err: errors.New(res.Text)}
}

// terminalAsker asks on the terminal, line by line.
type terminalAsker struct{ std console.Streams }

// Ask shows the whole question and reads yes or no.
func (t terminalAsker) Ask(_ context.Context, q tools.Question) (tools.Answer, error) {
	w := t.std.Err
	fmt.Fprintln(w, text.Visible(q.Heading()))
	if q.Command != "" {
		fmt.Fprintln(w, "  "+text.Visible(q.Command))
	}
	for _, d := range q.Details {
		fmt.Fprintln(w, "  "+text.Visible(d))
	}
	if q.Diff != "" {
		fmt.Fprintln(w, text.Visible(q.Diff))
	}
	fmt.Fprint(w, "Allow? [y]es, [a]lways in this project, [N]o: ")
	answer := tools.Answer{Scope: tools.AnswerNo, Option: -1}
	var word string
	_, _ = fmt.Fscanln(t.std.In, &word) // an empty line and a failure leave it at no
	switch strings.ToLower(word) {
	case "y", "yes":
		answer.Scope = tools.AnswerOnce
	case "a", "always":
		answer.Scope = tools.AnswerProject
	}
	return answer, nil
}
