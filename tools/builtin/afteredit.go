package builtin

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"mvdan.cc/sh/v3/syntax"

	"jcode/internal/text"
	"jcode/tools"
)

// AfterEdit is a command that runs after a file was written: a formatter or a checker.
type AfterEdit struct {
	// Glob selects the files: a pattern for the path below the root, or without a slash for the
	// file's name ("*.go").
	Glob string
	// Command is a shell line; $FILE in it is the file's path.
	Command string
	// Theirs says that the project wrote the command, not the person.
	Theirs bool
	// Refuse returns the reason why the command must not run now, or "". Nil means that it may run.
	Refuse func() string
}

// Runner runs commands of AfterEdit.
type Runner interface {
	// RunCommand runs a shell line in a folder and returns its output and exit code; theirs says that
	// others wrote the line. It sets its
	// own limits of time and output. It returns an error if the command could not be run.
	RunCommand(ctx context.Context, command, dir string, theirs bool) (output string, code int, err error)
}

// maxDiagnostics is the most that one command may report to the model, in bytes.
const maxDiagnostics = 4 << 10

// matches reports whether the command applies to a file, given its path below the project's root.
func (a AfterEdit) matches(name string) bool {
	if !strings.Contains(a.Glob, "/") {
		name = filepath.Base(name)
	}
	ok, err := doublestar.Match(a.Glob, name)
	return err == nil && ok
}

// afterEdit runs the commands for a file that was written and returns their reports.
func (f *files) afterEdit(ctx context.Context, call tools.Call, t target) string {
	if f.opts.Runner == nil {
		return ""
	}
	var said []string
	below := t.abs
	if rel, err := filepath.Rel(f.ws.Root(), t.abs); err == nil {
		below = filepath.ToSlash(rel)
	}
	for _, a := range f.opts.AfterEdit {
		if !a.matches(below) {
			continue
		}
		if a.Refuse != nil {
			if why := a.Refuse(); why != "" {
				said = append(said, fmt.Sprintf("after_edit %q was not run: %s", a.Command, why))
				continue
			}
		}
		name, err := syntax.Quote(t.abs, syntax.LangPOSIX)
		if err != nil {
			said = append(said, fmt.Sprintf("after_edit %q was not run: the file's name can't be quoted: %v", a.Command, err))
			continue
		}
		ended := func() string { return "" }
		if f.opts.Around != nil {
			if after := f.opts.Around(call.Caller, "after_edit "+a.Command); after != nil {
				ended = after
			}
		}
		out, code, err := f.opts.Runner.RunCommand(ctx, "FILE="+name+"; export FILE\n"+a.Command, f.ws.Root(), a.Theirs)
		out = strings.TrimSpace(text.Clean(out))
		out, _ = text.HeadTail(out, maxDiagnostics, func(n, _ int) string { return fmt.Sprintf("\n[… %d bytes left out …]\n", n) })
		switch {
		case err != nil:
			said = append(said, fmt.Sprintf("after_edit %q could not be run: %v", a.Command, err))
		case code != 0:
			said = append(said, fmt.Sprintf("after_edit %q ended with exit code %d:\n%s", a.Command, code, out))
		case out != "":
			said = append(said, fmt.Sprintf("after_edit %q says:\n%s", a.Command, out))
		}
		if lost := ended(); lost != "" {
			said = append(said, lost)
		}
	}
	return strings.Join(said, "\n")
}
