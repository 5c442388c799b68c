package review

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"jcode/cli/console"

	"jcode/internal/atomicfile"
	"jcode/internal/launch"
	"jcode/internal/paths"
	"jcode/tools/permission/repository"
)

// exitFindings is the exit code of a review with a finding of the severity that --fail-on names.
const exitFindings = 6

// Setup is what `jcode review` is given.
type Setup struct {
	console.Streams
	Version string
	// Ask has a model review files, in a run that only reads and of which nothing is kept.
	Ask func(ctx context.Context, files []File) (json.RawMessage, error)
}

// Command is `jcode review`.
type Command interface {
	Run(ctx context.Context, std Setup) error
}

// Cmd reviews a change. It takes no words: `jcode review this please` is a prompt.
type Cmd struct {
	Base        string `help:"Review what this branch changes since it left another one." placeholder:"REF"`
	Commit      string `help:"Review one commit." placeholder:"REF"`
	Range       string `help:"Review what lies between two commits, as in v1..HEAD." placeholder:"A..B"`
	Staged      bool   `help:"Review what is staged."`
	Uncommitted bool   `help:"Review what is not committed, new files included (the default)."`
	FailOn      string `name:"fail-on" enum:"P0,P1,P2,P3" help:"End with exit code 6 on a finding of this severity or worse: ${enum}." placeholder:"P1"`
	JSON        bool   `name:"json" help:"Print the report as JSON."`
	SARIF       string `name:"sarif" help:"Write the findings to this file in SARIF 2.1.0, for code scanning." placeholder:"FILE"`
}

// Run reviews the change and prints what was found.
func (c *Cmd) Run(ctx context.Context, std Setup) error {
	diff, err := c.diff(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return console.Interrupted()
		}
		return console.Usage("%w", err)
	}
	report := Report{Summary: "There is nothing to review.", Findings: []Finding{}}
	if shown, left := Shown(Parse(diff)); len(shown) > 0 || len(left) > 0 {
		answer, err := std.Ask(ctx, shown)
		if err != nil {
			return err
		}
		if report, err = Read(answer, shown); err != nil {
			return &console.Exit{Code: console.ExitSchema, Err: err}
		}
		report.Left = left
	}
	return c.print(report, std)
}

// print writes a report in the forms that were asked for.
func (c *Cmd) print(report Report, std Setup) error {
	if c.SARIF != "" {
		text, err := json.MarshalIndent(report.SARIF(std.Version), "", "  ")
		if err == nil {
			err = atomicfile.Write(c.SARIF, append(text, '\n'), atomicfile.Options{Perm: 0o644})
		}
		if err != nil {
			return console.Usage("--sarif: %w", err)
		}
	}
	if c.JSON {
		if err := console.PrintJSON(std.Out, report); err != nil {
			return err
		}
	} else {
		fmt.Fprint(std.Out, report.Text())
	}
	if c.FailOn != "" && report.Worst(c.FailOn) {
		return &console.Exit{Code: exitFindings, Silent: true, Err: errors.New("there are findings")}
	}
	return nil
}

// maxNew bounds the new files that are reviewed.
const maxNew = 200

// diff returns the change, as git shows it.
func (c *Cmd) diff(ctx context.Context) (string, error) {
	args, err := c.revisions()
	if err != nil {
		return "", err
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	git, top, err := gitOf(ctx, dir)
	if err != nil {
		return "", err
	}
	words := append([]string{"-c", "core.quotePath=false"}, args[0])
	words = append(words, "--no-color", "--no-ext-diff", "--no-textconv", "--src-prefix=a/", "--dst-prefix=b/", "--find-renames", "--unified=5")
	diff, err := gitSays(ctx, git, top, append(append(words, args[1:]...), "--")...)
	if err != nil || c.Base+c.Commit+c.Range != "" || c.Staged {
		return diff, err
	}
	names, err := gitSays(ctx, git, top, "ls-files", "--others", "--exclude-standard", "-z")
	if err != nil {
		return "", err
	}
	list := strings.FieldsFunc(names, func(r rune) bool { return r == 0 })
	for _, name := range list[:min(len(list), maxNew)] {
		diff += Added(filepath.ToSlash(name), func() ([]byte, error) {
			return paths.ReadFile(filepath.Join(top, filepath.FromSlash(name)), MaxNew)
		})
	}
	if len(list) > maxNew {
		return "", fmt.Errorf("there are %d new files, more than %d: add what belongs to the change with git add, and review with --staged", len(list), maxNew)
	}
	return diff, nil
}

// revisions returns the git command that shows the change, with what it compares.
func (c *Cmd) revisions() ([]string, error) {
	var chosen [][]string
	for _, way := range []struct {
		name, ref string
		args      []string
	}{
		{"--base", c.Base, []string{"diff", "--merge-base", c.Base}}, {"--commit", c.Commit, []string{"show", "--format=", "--first-parent", "-m", c.Commit}}, {"--range", c.Range, []string{"diff", c.Range}},
	} {
		if way.ref == "" {
			continue
		}
		if strings.HasPrefix(way.ref, "-") {
			return nil, fmt.Errorf("%s %s: that is no commit", way.name, way.ref)
		}
		chosen = append(chosen, way.args)
	}
	if c.Staged {
		chosen = append(chosen, []string{"diff", "--cached"})
	}
	if c.Uncommitted {
		chosen = append(chosen, []string{"diff", "HEAD"})
	}
	switch len(chosen) {
	case 0:
		return []string{"diff", "HEAD"}, nil
	case 1:
		return chosen[0], nil
	}
	return nil, errors.New("choose one of --base, --commit, --range, --staged and --uncommitted")
}

// gitOf returns a git for the repository of a folder, and its top.
func gitOf(ctx context.Context, dir string) (launch.Git, string, error) {
	top := dir
	git := launch.Git{Programs: launch.Programs{Roots: func() []string { return []string{top} }}}
	said, err := gitSays(ctx, git, dir, "rev-parse", "--show-toplevel")
	if err != nil {
		return git, "", errors.New("a review needs a git repository: " + err.Error())
	}
	top = filepath.FromSlash(strings.TrimSpace(said))
	looker := &repository.Looker{Programs: git.Programs, Own: true, Inside: func(path string) bool { return paths.Within(paths.Real(top), path) }}
	git.Look = func(dir string) string { return looker.Look(paths.Real(dir)).Why }
	return git, top, git.Vouched(top)
}

// gitSays runs git and returns what it prints.
func gitSays(ctx context.Context, git launch.Git, dir string, args ...string) (string, error) {
	cmd, err := git.Command(ctx, dir, args...)
	if err != nil {
		return "", err
	}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		said, _, _ := strings.Cut(strings.TrimSpace(errs.String()), "\n")
		return "", fmt.Errorf("git: %w: %s", err, said)
	}
	return out.String(), nil
}
