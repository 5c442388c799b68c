package skills

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"jcode/internal/frontmatter"
	"jcode/internal/startfiles"
	"jcode/internal/text"
	"jcode/tools"
	"jcode/tools/command"
)

const (
	maxCommands     = 500
	maxCommandDepth = 2 // folders below a folder of commands
)

// CommandFile is one Markdown file that a person runs as `/name`.
type CommandFile struct {
	Name        string
	Description string
	Hint        string
	// Model overrides the model for the message that the command makes.
	Model string
	// Rules are the permission rules that allowed-tools asks for.
	Rules []string
	// Shell are the command lines of the file.
	Shell  []string
	File   string
	Source Source
	// Hash is the SHA-256 of the file in hex.
	Hash string
	// State, By, Waits, Replaces and Diagnostics are as for skills.
	State       State
	By          string
	Waits       bool
	Replaces    string
	Diagnostics []Diagnostic

	body  template
	stamp stamp
	root  string // of the project
}

// Pin returns what a person is asked to approve for a command with shell lines or allowed-tools.
// Its hash includes the project's files that the lines start.
func (c *CommandFile) Pin() Pin {
	hash := c.Hash
	if c.root != "" {
		hash = startfiles.Pin(hash, c.root, c.Shell...)
	}
	return Pin{Kind: "command", Name: c.Name, File: c.File, Project: c.Source.Project, Hash: hash, Rules: c.Rules, Shell: c.Shell}
}

// CommandFiles is the set of command files. Listing needs no file access. All methods are safe
// for concurrent use.
type CommandFiles struct {
	places Places
	trust  tools.Trust
	host   Host

	scanning sync.Mutex
	current  atomic.Pointer[commandState]
}

type commandState struct {
	files []*CommandFile // sorted by name, the winner first
	list  []command.Command
	notes []Diagnostic
}

// NewCommandFiles returns a source of commands. It reads nothing before the first use.
func NewCommandFiles(places Places, trust tools.Trust, host Host) *CommandFiles {
	return &CommandFiles{places: places, trust: trust, host: host}
}

// commandSources lists the folders of commands. If two commands have the same name, the later one
// wins.
func (p Places) commandSources() []Source {
	var list []Source
	add := func(base, dir, label string, project bool) {
		if base != "" {
			list = append(list, Source{Label: label, Dir: filepath.Join(base, dir), Project: project})
		}
	}
	for _, pl := range p.plugins() {
		for _, dir := range pl.Commands {
			list = append(list, Source{Label: "plugin " + pl.Name, Dir: dir, Plugin: pl.Name})
		}
	}
	add(p.Config, "commands", "user", false)
	add(p.Home, ".claude/commands", "~/.claude", false)
	if p.Project != p.Home {
		add(p.Project, ".claude/commands", "project .claude", true)
	}
	add(p.Project, ".jcode/commands", "project .jcode", true)
	return list
}

func (c *CommandFiles) state() *commandState {
	if s := c.current.Load(); s != nil {
		return s
	}
	c.Reload()
	return c.current.Load()
}

// Reload reads all command files again.
func (c *CommandFiles) Reload() Change {
	c.scanning.Lock()
	defer c.scanning.Unlock()
	var found []*CommandFile
	var notes []Diagnostic
	roots := map[string]bool{}
	for _, src := range c.places.commandSources() {
		real, err := filepath.EvalSymlinks(src.Dir)
		if err != nil || roots[real] {
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				notes = append(notes, Diagnostic{File: src.Dir, Level: Warning, Text: fmt.Sprintf("cannot be read: %v", err), Cure: "check its permissions"})
			}
			continue
		}
		if err := c.places.admits(src, src.Dir); err != nil {
			notes = append(notes, absent(src.Dir))
			continue
		}
		roots[real] = true
		for _, file := range commandFiles(src.Dir) {
			if err := c.places.admits(src, file); err != nil {
				notes = append(notes, absent(file))
				continue
			}
			if len(found) == maxCommands {
				notes = append(notes, Diagnostic{File: src.Dir, Level: Warning, Text: fmt.Sprintf("more than %d commands in all; the rest is left out", maxCommands), Cure: "remove some"})
				break
			}
			found = append(found, readCommand(c.places, src, file))
		}
	}
	next := c.settle(found)
	next.notes = notes
	change := diffCommands(c.current.Load(), next)
	c.current.Store(next)
	return change
}

// commandFiles lists the Markdown files below dir, those at its top last, so that they win. A
// plugin may name a file instead of a folder.
func commandFiles(dir string) []string {
	var files []string
	if !isDir(dir) && strings.EqualFold(filepath.Ext(dir), ".md") {
		return []string{dir}
	}
	var walk func(dir string, depth int)
	walk = func(dir string, depth int) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return // gone or unreadable: there is nothing to run in it
		}
		var here []string
		for _, e := range entries {
			path := filepath.Join(dir, e.Name())
			switch {
			case skipFolder(e.Name()) || len(files) > maxCommands:
			case e.IsDir():
				if depth < maxCommandDepth {
					walk(path, depth+1)
				}
			case strings.EqualFold(filepath.Ext(e.Name()), ".md"):
				here = append(here, path)
			}
		}
		files = append(files, here...)
	}
	walk(dir, 0)
	return files
}

// readCommand reads one file.
func readCommand(places Places, src Source, file string) *CommandFile {
	base := filepath.Base(file)
	c := &CommandFile{File: file, Source: src, State: Active, stamp: stampOf(file), root: places.Project}
	p := reader{file: file}
	name := strings.TrimSuffix(base, filepath.Ext(base))
	c.Name, _ = slug(name)
	if c.Name != name {
		p.warn(0, fmt.Sprintf("the file's name is read as /%s", c.Name), "use lower-case letters, digits and hyphens")
	}
	data, err := places.read(src, file)
	if err != nil {
		p.fault(0, err.Error(), "check the file, its size and its permissions")
	}
	c.Hash = hash(data)
	p.doc = frontmatter.Parse(data)
	c.Description, _ = p.scalar("description")
	c.Hint, _ = p.scalar("argument-hint")
	c.Model, _ = p.scalar("model")
	c.Rules = p.rules("allowed-tools")
	if p.doc.Closed || !p.doc.Present {
		p.rest(map[string]bool{"description": true, "argument-hint": true, "model": true, "allowed-tools": true})
	}
	body := strings.TrimSpace(p.doc.Body)
	c.body = parseTemplate(body)
	c.Shell = c.body.shellLines()
	p.shellLines(c.Shell)
	switch {
	case err != nil:
	case c.Name == "":
		p.fault(0, "the file's name contains no letter or digit", "rename it")
	case p.doc.Present && !p.doc.Closed:
		p.fault(1, "the front matter is never closed", "put a line `---` after its last key")
	case body == "":
		p.fault(p.doc.BodyLine, "there is no text to send", "write the message below the front matter")
	}
	if c.Description == "" {
		line, _, _ := strings.Cut(body, "\n")
		c.Description = brief(text.Clean(strings.TrimLeft(line, "# ")), 100)
	}
	if p.faulty {
		c.State = Broken
	}
	c.Diagnostics = p.found
	return c
}

// shellLines reports the lines in which an argument might not stay one word. They would be refused
// with any arguments.
func (p *reader) shellLines(lines []string) {
	for _, line := range lines {
		if _, err := shellText(line, given{}); err != nil {
			before, _, _ := strings.Cut(p.doc.Body, "!`"+line)
			p.fault(p.doc.BodyLine+strings.Count(before, "\n"), misplaced(line), misplacedCure)
		}
	}
}

// settle decides which file gets each name: the last one found.
func (c *CommandFiles) settle(found []*CommandFile) *commandState {
	next := &commandState{}
	winner, own := map[string]string{}, map[string]string{}
	for _, f := range found {
		if f.State == Active && !f.Source.Project {
			own[f.Name] = f.File
		}
	}
	for _, f := range slices.Backward(found) {
		next.files = append(next.files, f)
		if f.State != Active {
			continue
		}
		// A plugin's command has a name that nothing else can take.
		if full := f.Source.Plugin + ":" + f.Name; f.Source.Plugin != "" && winner[full] == "" {
			winner[full] = f.File
			next.list = append(next.list, c.command(f, full))
		}
		if mine, has := own[f.Name]; has && f.Source.Project && winner[f.Name] == "" {
			if ok, err := mayReplace(c.trust, f.Pin()); !ok {
				f.State, f.By, f.Waits = Shadowed, mine, true
				f.Diagnostics = append(f.Diagnostics, waits(f.File, mine, err))
				continue
			}
			f.Replaces = mine
		}
		if by, taken := winner[f.Name]; taken {
			f.State, f.By = Shadowed, by
			f.Diagnostics = append(f.Diagnostics, Diagnostic{
				File: f.File, Level: Warning, Text: "shadowed by " + by, Cure: "rename or remove one of the two",
			})
			continue
		}
		winner[f.Name] = f.File
		next.list = append(next.list, c.command(f, f.Name))
	}
	slices.SortStableFunc(next.files, func(a, b *CommandFile) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(next.list, func(a, b command.Command) int { return cmp.Compare(a.Name, b.Name) })
	return next
}

// command returns the command that the terminal lists and runs under a name.
func (c *CommandFiles) command(f *CommandFile, name string) command.Command {
	return command.Command{
		Name:        name,
		Description: text.OneLine(f.Description),
		Hint:        f.Hint,
		Origin:      "command (" + f.Source.Label + ")",
		Guest:       guest(c.trust, f.Pin()),
		Run: func(ctx context.Context, args string) (command.Outcome, error) {
			return c.run(ctx, f.File, args)
		},
	}
}

// run expands the template of a command, as the file is now.
func (c *CommandFiles) run(ctx context.Context, file, args string) (command.Outcome, error) {
	f, err := c.fresh(file)
	if err != nil {
		return command.Outcome{}, err
	}
	ok, err := approved(ctx, c.trust, c.host.Asker(), f.Pin())
	if err != nil {
		return command.Outcome{}, fmt.Errorf("approve /%s: %w", f.Name, err)
	}
	out := command.Outcome{Shown: strings.TrimSpace("/" + f.Name + " " + args), Model: f.Model}
	var rules []string
	switch {
	case ok:
		rules = f.Rules
	case len(f.Shell) > 0:
		return command.Outcome{}, fmt.Errorf("/%s runs commands that nobody has approved for this version of %s: run it in the terminal once, or with --trust", f.Name, f.File)
	default:
		out.Notice = fmt.Sprintf("the allowed-tools of /%s are not approved: its calls ask as usual", f.Name)
	}
	out.Allow = rules
	g := parseArguments(args)
	if out.Prompt, err = f.body.expand(ctx, c.host, g, rules); err != nil {
		return command.Outcome{}, fmt.Errorf("/%s: %w", f.Name, err)
	}
	if !f.body.uses() {
		out.Prompt += added(g)
	}
	return out, nil
}

// fresh returns a command as its file is now.
func (c *CommandFiles) fresh(file string) (*CommandFile, error) {
	f := c.find(file)
	if f == nil || stampOf(file) != f.stamp {
		c.Reload()
		f = c.find(file)
	}
	switch {
	case f == nil:
		return nil, fmt.Errorf("%s is gone", file)
	case f.State == Broken:
		return nil, errors.New(firstOf(f.Diagnostics, f.File).String())
	}
	return f, nil
}

func (c *CommandFiles) find(file string) *CommandFile {
	for _, f := range c.state().files {
		if f.File == file {
			return f
		}
	}
	return nil
}

// List returns the commands, sorted by name.
func (c *CommandFiles) List() []command.Command { return c.state().list }

// Files returns every command file found, sorted by name.
func (c *CommandFiles) Files() []CommandFile {
	var out []CommandFile
	for _, f := range c.state().files {
		out = append(out, *f)
	}
	return out
}

// Diagnostics returns the problems of all command files.
func (c *CommandFiles) Diagnostics() []Diagnostic {
	s := c.state()
	out := slices.Clone(s.notes)
	for _, f := range s.files {
		out = append(out, f.Diagnostics...)
	}
	return out
}
