package cli

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
	"jcode/mcp"
	"jcode/tools"
)

// luaCmd writes, checks and runs Lua without a model.
type luaCmd struct {
	New   luaNewCmd   `cmd:"" help:"Write a commented, working tool or plugin."`
	Check luaCheckCmd `cmd:"" help:"Look for faults in manifests and sources, without running them."`
	Run   luaRunCmd   `cmd:"" help:"Call a Lua tool: same host, gate and limits as for a model."`
	Stubs luaStubsCmd `cmd:"" help:"Write type annotations of the Lua API for editors."`
}

type luaNewCmd struct {
	Name   string `arg:"" help:"Name of the tool or plugin."`
	User   bool   `help:"For all projects, in the configuration folder."`
	Plugin bool   `help:"A plugin instead of a tool."`
}

// Run writes the files and prints their paths; it never overwrites.
func (c *luaNewCmd) Run(ctx context.Context, _ *flags, std Streams) error {
	a := &app{flags: &flags{}, std: std}
	if err := a.findPlaces(ctx); err != nil {
		return err
	}
	base, write := a.root, lua.NewTool
	if c.User {
		base = a.paths.Config
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

type luaCheckCmd struct {
	Dir string `arg:"" help:"A tool folder, a folder of them, a plugin, or a script."`
}

// Run prints each fault as file:line: message.
func (c *luaCheckCmd) Run(ctx context.Context, f *flags, std Streams) error {
	quiet := *f
	quiet.Print, quiet.NoLua = true, true
	var around lua.Around
	if a, err := newApp(ctx, &quiet, std); err != nil {
		fmt.Fprintln(std.Err, "jcode: names are not compared with those of builtin tools:", err)
	} else {
		defer a.close()
		around.Project, around.Secret = a.root, a.isKeyVariable
		around.Builtin = func(name string) bool {
			_, taken, _ := a.registry.Snapshot(nil).Lookup(name)
			return taken
		}
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

type luaStubsCmd struct {
	File string `arg:"" optional:"" default:"jcode.d.lua" help:"Where to write; - for standard output."`
}

// Run writes the stubs.
func (c *luaStubsCmd) Run(_ context.Context, _ *flags, std Streams) error {
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

type luaRunCmd struct {
	Tool string   `arg:"" help:"Name of the tool."`
	Args []string `arg:"" optional:"" help:"Arguments as key=value; values that are JSON count as such where the tool wants no text." sep:"none"`
	JSON bool     `name:"json" help:"Print the whole result as JSON."`
}

// luaResult is what `jcode lua run --json` prints.
type luaResult struct {
	OK    bool            `json:"ok"`
	Text  string          `json:"text"`
	Kind  tools.ErrorKind `json:"error_kind,omitempty"`
	Data  any             `json:"data,omitempty"`
	Lines []string        `json:"log,omitempty"`
}

// Run calls the tool.
func (c *luaRunCmd) Run(ctx context.Context, f *flags, std Streams) error {
	if f.NoLua {
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
	quiet := *f
	quiet.Print = true
	a, err := newApp(ctx, &quiet, std)
	if err != nil {
		return err
	}
	defer a.close()
	asker := terminalAsker{std}
	if std.InIsTerminal {
		a.asker = asker
	}
	a.lua.room.Refresh()
	if items := a.lua.room.Untrusted(); len(items) > 0 && std.InIsTerminal {
		a.lua.ask(ctx, items)
	}
	e, ok, _ := a.registry.Snapshot(nil).Lookup(c.Tool)
	if !ok || e.Spec.Group != tools.GroupLua {
		return console.Usage("lua run: there is no Lua tool %q here (jcode tools lists what there is)", c.Tool)
	}
	if names := lua.Servers(a.lua.room, c.Tool); len(names) > 0 && !f.NoMCP {
		release, err := connectFor(ctx, a.mcp, names)
		if err != nil {
			fmt.Fprintln(std.Err, "jcode: "+text.Visible(err.Error())) // the tool is told, too, when it calls the server
		}
		defer release()
	}
	caller := tools.Caller{Origin: tools.OriginScript, Mode: func() tools.Mode { return a.mode }, Asker: a.lua.person()}
	res := a.dispatcher.Dispatch(ctx, tools.Call{ID: uuid.NewString(), Name: c.Tool, Arguments: raw, Caller: caller}).Result
	if c.JSON {
		out := luaResult{OK: !res.Failed, Text: res.Text, Kind: res.Kind, Data: res.Data}
		for _, l := range a.lua.room.Log(c.Tool) {
			out.Lines = append(out.Lines, l.Text)
		}
		if err := console.PrintJSON(std.Out, out); err != nil {
			return err
		}
	} else {
		for _, l := range a.lua.room.Log(c.Tool) {
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

// connectFor connects the MCP servers that a tool declares, until release is called.
func connectFor(ctx context.Context, m *mcp.Manager, names []string) (release func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, core.PrintWait)
	defer cancel()
	lease, err := m.Acquire(ctx, names)
	if err != nil {
		return func() {}, err
	}
	return lease.Release, nil
}

// terminalAsker asks on the terminal, line by line.
type terminalAsker struct{ std Streams }

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
