package config

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/charmbracelet/x/term"

	"jcode/cli/console"
	"jcode/internal/slicex"
	"jcode/internal/text"
)

// Cmd shows and changes settings.
type Cmd struct {
	Show   showCmd   `cmd:"" default:"withargs" help:"Print the settings in force, and where each comes from. Keys are masked."`
	Path   pathCmd   `cmd:"" help:"Print the folders and files that are used."`
	Schema schemaCmd `cmd:"" help:"Print the JSON Schema of config.json."`
	Set    setCmd    `cmd:"" help:"Change a setting; comments and other keys stay."`
	Key    keyCmd    `cmd:"" help:"Keep a provider's API key, read from standard input."`
}

// Setup is what the commands of `jcode config` are given.
type Setup struct {
	console.Streams
	Managed *Managed
	// Find finds the files, and the root of the project.
	Find func(ctx context.Context) (found Paths, root string, err error)
	// Load reads the settings in force.
	Load func(ctx context.Context) (*Loaded, error)
}

// Subcommand is a command of `jcode config`.
type Subcommand interface {
	Run(ctx context.Context, std Setup) error
}

type showCmd struct {
	All  bool `help:"With the defaults."`
	JSON bool `name:"json" help:"Print one JSON object."`
}

// Run prints the settings in force. Faults of the files go to stderr, and the exit code is 2 if a fault keeps
// a setting out of force.
func (c *showCmd) Run(ctx context.Context, std Setup) error {
	loaded, err := std.Load(ctx)
	if err != nil {
		return err
	}
	settings, err := loaded.Show(c.All)
	if err != nil {
		return console.Usage("%w", err)
	}
	if c.JSON {
		err = console.PrintJSON(std.Out, map[string]any{
			"managed": slicex.OrEmpty(std.Managed.Show()), "settings": slicex.OrEmpty(settings), "waiting_for_trust": slicex.OrEmpty(loaded.Held), "problems": slicex.OrEmpty(loaded.Problems),
		})
	} else {
		err = showSettings(std.Streams, loaded, settings, std.Managed.Show())
	}
	if err != nil {
		return err
	}
	for _, p := range loaded.Problems {
		if !p.Harmless {
			return &console.Exit{Code: console.ExitUsage, Silent: true, Err: errors.New(p.String())}
		}
	}
	return nil
}

func showSettings(std console.Streams, loaded *Loaded, settings, managed []Setting) error {
	w := tabwriter.NewWriter(std.Out, 0, 0, 2, ' ', 0)
	line := func(key, value, from string) {
		fmt.Fprintf(w, "%s\t%s\t%s\n", key, text.Truncate(text.OneLine(value), 100, "…"), from)
	}
	for _, s := range managed {
		line("managed: "+s.Key, string(s.Value), s.Origin)
	}
	for _, s := range settings {
		for _, part := range s.Parts {
			line(s.Key, string(part.Value), part.Origin)
		}
		if s.Parts == nil {
			line(s.Key, string(s.Value), s.Origin)
		}
	}
	for _, h := range loaded.Held {
		line(h.Key, h.Value, fmt.Sprintf("%s:%d, waits for trust", h.File, h.Line))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, p := range loaded.Problems {
		fmt.Fprintln(std.Err, "jcode: "+p.String())
	}
	return nil
}

type pathCmd struct {
	JSON bool `name:"json" help:"Print one JSON object."`
}

// Run prints the paths that jcode uses.
func (c *pathCmd) Run(ctx context.Context, std Setup) error {
	found, root, err := std.Find(ctx)
	if err != nil {
		return err
	}
	places := []struct{ name, path string }{
		{"config", found.Config},
		{"data", found.Data},
		{"settings", found.File()},
		{"credentials", found.Credentials()},
		{"project", root},
		{"project_settings", ProjectFile(root)},
	}
	if m := std.Managed; m != nil {
		places = append(places, struct{ name, path string }{"managed", filepath.Dir(m.Files[0])})
	}
	if c.JSON {
		out := map[string]string{}
		for _, p := range places {
			out[p.name] = p.path
		}
		return console.PrintJSON(std.Out, out)
	}
	w := tabwriter.NewWriter(std.Out, 0, 0, 2, ' ', 0)
	for _, p := range places {
		note := ""
		if _, err := os.Stat(p.path); err != nil {
			note = "(not there)"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", p.name, p.path, note)
	}
	return w.Flush()
}

type schemaCmd struct{}

// Run prints the schema.
func (schemaCmd) Run(_ context.Context, std Setup) error {
	data, err := Schema()
	if err != nil {
		return err
	}
	_, err = std.Out.Write(data)
	return err
}

type setCmd struct {
	Key     string `arg:"" help:"Dotted key, such as theme or mcp.tools."`
	Value   string `arg:"" optional:"" help:"Text, or JSON for anything else; none removes the setting."`
	Project bool   `help:"In this project's file, not in your own."`
}

// Run changes one setting.
func (c *setCmd) Run(ctx context.Context, std Setup) error {
	found, root, err := std.Find(ctx)
	if err != nil {
		return err
	}
	file := found.File()
	if c.Project {
		file = ProjectFile(root)
	}
	if c.Value == "" {
		return console.AsUsage(Set(file, c.Key, nil))
	}
	// A value that is valid as a string is one; others are parsed as JSON.
	err = Set(file, c.Key, c.Value)
	var value any
	if err != nil && json.Unmarshal([]byte(c.Value), &value) == nil && value != nil {
		if _, is := value.(string); !is {
			err = Set(file, c.Key, value)
		}
	}
	return console.AsUsage(err)
}

type keyCmd struct {
	Provider string `arg:"" help:"Provider, such as openai."`
	Forget   bool   `help:"Forget the key."`
}

// Run stores a key. It is read from standard input, so that it appears in no shell history and
// no process list.
func (c *keyCmd) Run(ctx context.Context, std Setup) error {
	found, _, err := std.Find(ctx)
	if err != nil {
		return err
	}
	key := ""
	if !c.Forget {
		if key, err = readKey(std.Streams, c.Provider); err != nil {
			return console.Usage("%w", err)
		}
	}
	if err := StoreKey(found.Credentials(), c.Provider, key); err != nil {
		return console.Usage("%w", err)
	}
	fmt.Fprintf(std.Err, "jcode: %s\n", found.Credentials())
	return nil
}

// readKey reads one line, without echo on a terminal.
func readKey(std console.Streams, provider string) (string, error) {
	var line string
	if in, ok := std.In.(*os.File); ok && std.InIsTerminal {
		fmt.Fprintf(std.Err, "API key of %s (not shown): ", provider)
		raw, err := term.ReadPassword(in.Fd())
		fmt.Fprintln(std.Err)
		if err != nil {
			return "", fmt.Errorf("read key: %w", err)
		}
		line = string(raw)
	} else {
		read, err := bufio.NewReader(io.LimitReader(std.In, 64<<10)).ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return "", fmt.Errorf("read key: %w", err)
		}
		line = read
	}
	if line = strings.TrimSpace(line); line == "" {
		return "", errors.New("there is no key on standard input")
	}
	return line, nil
}
