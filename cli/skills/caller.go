package skillscli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/uuid"

	"jcode/cli/board"
	"jcode/skills"
	"jcode/tools"
)

// Caller runs the shell lines and file reads of a person's commands, through the same gate as
// all calls.
type Caller struct {
	Board      *board.Board
	Dispatcher *tools.Dispatcher
	Mode       func() tools.Mode // if no conversation is open
	Alone      bool              // no person can be asked
	Cwd        string            // where relative paths begin
	// Allow puts rules in force for a session, until the returned function is called.
	Allow func(sessionID string, rules []string) (func(), error)
}

// Session returns the open conversation's session.
func (h Caller) Session() string { return h.Board.Session() }

// Asker returns the asker that asks the person of the open conversation.
func (h Caller) Asker() tools.Asker {
	if conv := h.Board.Open(); conv != nil && !h.Alone {
		return conv.Person()
	}
	return nil
}

// call dispatches a tool call of a command file. The person runs the command, but a file wrote the call: so
// it passes the gate like a script's.
func (h Caller) call(ctx context.Context, name string, args any) (tools.Result, error) {
	raw, err := json.Marshal(args)
	if err != nil {
		return tools.Result{}, fmt.Errorf("%s: %w", name, err)
	}
	caller := tools.Caller{
		Session: h.Session(), Origin: tools.OriginScript, Label: "command file", Asker: h.Asker(), Confined: true,
		Mode: h.Mode,
	}
	if conv := h.Board.Open(); conv != nil {
		caller.Mode = conv.Mode
	}
	out := h.Dispatcher.Dispatch(ctx, tools.Call{ID: uuid.NewString(), Name: name, Arguments: raw, Caller: caller})
	if out.Result.Failed {
		return out.Result, errors.New(out.Result.Text)
	}
	return out.Result, nil
}

// Shell runs a command line of a command file. A line that a person approved verbatim needs no second
// question, unless it contains what a rule would read as a pattern.
func (h Caller) Shell(ctx context.Context, line skills.ShellLine) (string, error) {
	rules := line.Allow
	if line.Approved && !strings.ContainsAny(line.Text, "*()") {
		rules = append(rules[:len(rules):len(rules)], "exec("+line.Text+")")
	}
	release, err := h.Allow(h.Session(), rules)
	if err != nil {
		return "", err
	}
	defer release()
	res, err := h.call(ctx, "exec", map[string]string{"cmd": line.Text})
	return res.Text, err
}

// HasFile reports whether a path names a regular file.
func (h Caller) HasFile(path string) bool {
	if !filepath.IsAbs(path) {
		path = filepath.Join(h.Cwd, filepath.FromSlash(path))
	}
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// ReadFile returns a file's text.
func (h Caller) ReadFile(ctx context.Context, path string) (string, error) {
	res, err := h.call(ctx, "read", map[string]string{"path": path})
	if err != nil {
		return "", err
	}
	if data, ok := res.Data.(map[string]any); ok {
		if content, ok := data["content"].(string); ok {
			return content, nil // without line numbers
		}
	}
	return res.Text, nil
}
