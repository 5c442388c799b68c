package acp

import (
	"encoding/base64"
	"encoding/json"
	"path/filepath"
	"strings"

	"jcode/internal/toolcard"

	"github.com/coder/acp-go-sdk"

	"jcode/internal/text"
	"jcode/tools"
)

// described is a tool call as a person at an editor sees it.
type described struct {
	title     string
	kind      acp.ToolKind
	locations []acp.ToolCallLocation
}

// kindOf returns the kind of a tool; those that are not builtin have the kind "other".
func kindOf(name string) acp.ToolKind { return acp.ToolKind(toolcard.Of(name).Kind) }

// argument reads the first present one of some string arguments.
func argument(args map[string]json.RawMessage, names ...string) string {
	for _, name := range names {
		var s string
		if raw, ok := args[name]; ok && json.Unmarshal(raw, &s) == nil && s != "" {
			return s
		}
	}
	return ""
}

// describe says what a call is about. Relative paths start at cwd.
func describe(name string, raw json.RawMessage, cwd string) described {
	var args map[string]json.RawMessage
	if json.Unmarshal(raw, &args) != nil {
		args = nil
	}
	d := described{kind: kindOf(name), title: name}
	path := argument(args, "path", "file_path", "dir", "src")
	switch subject := argument(args, "cmd", "command", "pattern", "url", "query", "question", "prompt", "action", "name"); {
	case subject != "":
		d.title = name + " " + subject
	case path != "":
		d.title = name + " " + path
	}
	if d.kind == acp.ToolKindExecute {
		d.title = strings.TrimPrefix(d.title, "exec ")
	}
	d.title = text.Truncate(strings.ReplaceAll(text.Visible(d.title), "\n", " ⏎ "), 200, "…")
	if path == "" {
		return d
	}
	switch d.kind {
	case acp.ToolKindRead, acp.ToolKindEdit, acp.ToolKindDelete, acp.ToolKindMove:
		at := acp.ToolCallLocation{Path: absolute(path, cwd)}
		var line float64
		if json.Unmarshal(args["offset"], &line) == nil && line >= 1 {
			at.Line = acp.Ptr(int(line))
		}
		d.locations = append(d.locations, at)
		if to := argument(args, "dst"); to != "" {
			d.locations = append(d.locations, acp.ToolCallLocation{Path: absolute(to, cwd)})
		}
	}
	return d
}

func absolute(path, cwd string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(cwd, path)
}

// endOf returns the update for a call that has ended. on is sideAfter if the files are as the call left them, so
// that its diff can be shown within the whole text.
func endOf(id, name string, args json.RawMessage, res tools.Result, status, cwd string, on side) *acp.SessionToolCallUpdate {
	u := &acp.SessionToolCallUpdate{ToolCallId: acp.ToolCallId(id), Status: acp.Ptr(acp.ToolCallStatusCompleted)}
	if res.Failed || status != "done" {
		u.Status = acp.Ptr(acp.ToolCallStatusFailed)
	}
	if ran := res.Display.RanWith(nil); ran != nil {
		args = ran
		u.RawInput, u.Title = ran, acp.Ptr(describe(name, ran, cwd).title+" · changed by "+res.Display.ChangedBy)
	}
	d := describe(name, args, cwd)
	if res.Display.Diff != "" {
		for _, f := range fileDiffs(res.Display.Diff, cwd, on) {
			u.Content = append(u.Content, acp.ToolCallContent{Diff: f.content()})
			u.Locations = append(u.Locations, acp.ToolCallLocation{Path: f.path, Line: acp.Ptr(f.line)})
		}
		if found := res.Display.Found; found != "" {
			u.Content = append(u.Content, acp.ToolContent(acp.TextBlock(fenced(found))))
		}
	} else {
		said := toolcard.ForPeople(res.Text)
		if status == "interrupted" && said == "" {
			said = "interrupted"
		}
		if d.kind == acp.ToolKindExecute || d.kind == acp.ToolKindRead || d.kind == acp.ToolKindSearch {
			said = fenced(text.CutTail(said, maxOutput))
		}
		if said != "" {
			u.Content = append(u.Content, acp.ToolContent(acp.TextBlock(said)))
		}
		u.Locations = d.locations
	}
	for _, p := range res.Parts {
		if strings.HasPrefix(p.MIME, "image/") {
			u.Content = append(u.Content, acp.ToolContent(acp.ImageBlock(base64.StdEncoding.EncodeToString(p.Data), p.MIME)))
		}
	}
	out := map[string]any{"text": res.Text}
	if res.Display.ExitCode != nil {
		out["exitCode"] = *res.Display.ExitCode
	}
	u.RawOutput = out
	return u
}

// fenced puts text between fences that do not occur in it.
func fenced(s string) string {
	if strings.TrimSpace(s) == "" {
		return ""
	}
	fence := "```"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	return fence + "\n" + strings.TrimRight(s, "\n") + "\n" + fence
}
