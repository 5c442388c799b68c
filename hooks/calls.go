package hooks

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"path/filepath"
	"strings"

	"jcode/internal/toolcard"

	"jcode/internal/patch"
	"jcode/internal/text"
	"jcode/tools"
)

// alias is Claude Code's form of one of jcode's tools.
type alias struct {
	names []string
	// args maps jcode's argument names to Claude Code's, where they differ.
	args map[string]string
}

// theirs returns Claude Code's form of one of jcode's tools.
func theirs(name string) alias {
	if name == "apply_patch" {
		return alias{[]string{"Edit", "MultiEdit", "Write"}, nil}
	}
	card := toolcard.Of(name)
	return alias{card.Theirs, card.Arguments}
}

// toolNames returns all names of a tool, Claude Code's first.
func toolNames(name string) []string {
	out := append(theirs(name).names, name)
	if rest, ok := strings.CutPrefix(name, "mcp:"); ok {
		out = append([]string{"mcp__" + strings.Replace(rest, ":", "__", 1)}, out...)
	}
	return out
}

// absolute returns a path as hooks get it, which may run in another folder than the call.
func (e *Engine) absolute(path string) string {
	if path == "" || e.opt.Cwd == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(e.opt.Cwd, filepath.FromSlash(path))
}

// both returns a call's arguments in both spellings. A file is absolute in Claude Code's.
func (e *Engine) both(name string, args json.RawMessage) map[string]json.RawMessage {
	in := map[string]json.RawMessage{}
	if json.Unmarshal(args, &in) != nil {
		return map[string]json.RawMessage{}
	}
	for ours, other := range theirs(name).args {
		if v, ok := in[ours]; ok {
			if _, taken := in[other]; taken {
				continue
			}
			var path string
			if other == "file_path" && json.Unmarshal(v, &path) == nil {
				v, _ = json.Marshal(e.absolute(path)) // a string is always valid JSON
			}
			in[other] = v
		}
	}
	return in
}

// ours converts arguments in both spellings, as a hook changed them, back to jcode's: the
// spelling that the hook changed is used.
func ours(name string, before, after map[string]json.RawMessage) (json.RawMessage, error) {
	out := maps.Clone(after)
	for mine, other := range theirs(name).args {
		v, has := after[other]
		if !has {
			continue
		}
		if _, has := after[mine]; !has || !bytes.Equal(v, before[other]) {
			out[mine] = v
		}
		delete(out, other)
	}
	if name == "apply_patch" {
		delete(out, patchedFile)
	}
	return json.Marshal(out)
}

// patchedFile is the input field that names a file of a patch, as it does for an edit.
const patchedFile = "file_path"

// inputs returns a call's arguments as hooks get them. For a patch there is one input per file,
// because hooks look at a single path.
func (e *Engine) inputs(call tools.Call) []map[string]json.RawMessage {
	in := e.both(call.Name, call.Arguments)
	var diff string
	if call.Name != "apply_patch" || json.Unmarshal(in["input"], &diff) != nil {
		return []map[string]json.RawMessage{in}
	}
	var out []map[string]json.RawMessage
	for _, path := range patch.Paths(diff) {
		raw, err := json.Marshal(e.absolute(path))
		if err != nil {
			continue // a string is always valid JSON
		}
		one := maps.Clone(in)
		one[patchedFile] = raw
		out = append(out, one)
	}
	if len(out) == 0 {
		return []map[string]json.RawMessage{in}
	}
	return out
}

// Calls runs the engine as a hook of the dispatcher.
type Calls struct{ Engine *Engine }

// fire runs the hooks of an event for a call; again as in Occasion.
func (c Calls) fire(ctx context.Context, event Event, call tools.Call, more map[string]any, again bool) Outcome {
	names := toolNames(call.Name)
	var answers []Outcome
	for _, in := range c.Engine.inputs(call) {
		fields := map[string]any{"tool_name": names[0], "jcode_tool": call.Name, "tool_use_id": call.ID, "tool_input": in}
		maps.Copy(fields, more)
		answers = append(answers, c.Engine.Fire(ctx, Occasion{Event: event, Session: call.Caller.Session, Names: names, Fields: fields, Call: &call, Roles: call.Caller.Scope.Roles(), Again: again}))
	}
	return joined(answers)
}

// BeforeCall implements tools.Hook.
func (c Calls) BeforeCall(ctx context.Context, call tools.Call) tools.Verdict {
	if !c.Engine.Wants(PreToolUse, call.Caller.Scope.Roles()...) {
		return tools.Verdict{}
	}
	out := c.fire(ctx, PreToolUse, call, nil, false)
	v := tools.Verdict{By: out.By, Context: out.Context, Ask: out.Ask, Notes: out.Notes}
	if out.Ask && out.Reason != "" {
		v.Notes = append(v.Notes, out.By+": "+out.Reason)
	}
	switch {
	case out.Block:
		v.Refuse = out.Reason
	case out.Stop:
		v.Refuse = "the hook ends the work here: " + out.StopReason
	case out.Input != nil:
		args, err := ours(call.Name, c.Engine.both(call.Name, call.Arguments), out.Input)
		if err != nil {
			c.Engine.notice("warn", "%s: %v", out.By, err)
			break
		}
		v.Arguments = args
		call.Arguments = args
		if again := c.fire(ctx, PreToolUse, call, nil, true); again.Block || again.Stop {
			v = tools.Verdict{By: again.By, Refuse: cmp.Or(again.Reason, again.StopReason)}
		}
	}
	return v
}

// AfterRun implements tools.Commenter: the model gets what hooks say about a result together with
// the result.
func (c Calls) AfterRun(ctx context.Context, call tools.Call, res *tools.Result) string {
	event, more := PostToolUse, map[string]any{}
	if failed(call, *res) {
		event = PostToolUseFailure
		more["error"], more["is_interrupt"] = res.Text, res.Kind == tools.KindCancelled
	} else {
		more["tool_response"] = response(call, *res)
	}
	if !c.Engine.Wants(event, call.Caller.Scope.Roles()...) {
		return ""
	}
	out := c.fire(ctx, event, call, more, false)
	if out.Output != nil {
		res.Text = outputText(out.Output)
	}
	var lines []string
	if out.Output != nil {
		lines = append(lines, "["+out.By+" replaced the result]")
	}
	if out.Block {
		lines = append(lines, "["+out.By+" says: "+out.Reason+"]")
	}
	if out.Stop {
		lines = append(lines, "["+out.By+" wants the work to end here: "+out.StopReason+"]")
	}
	if out.Context != "" {
		lines = append(lines, "[hook: "+out.Context+"]")
	}
	return strings.Join(lines, "\n")
}

// failed reports whether a call counts as failed for hooks: a command that ended with an error does, too.
func failed(call tools.Call, res tools.Result) bool {
	if res.Failed || call.Name != "exec" {
		return res.Failed
	}
	raw, err := json.Marshal(res.Data)
	var data struct{ Code int }
	return err == nil && json.Unmarshal(raw, &data) == nil && data.Code != 0
}

// outputText returns the text of a result that a hook puts in place of another: a text, what a command
// printed, or JSON as it is.
func outputText(raw json.RawMessage) string {
	var s string
	var command struct{ Stdout, Stderr *string }
	switch {
	case json.Unmarshal(raw, &s) == nil:
	case json.Unmarshal(raw, &command) == nil && command.Stdout != nil:
		s = *command.Stdout
		if command.Stderr != nil && *command.Stderr != "" {
			s = strings.TrimSuffix(s, "\n") + "\n" + *command.Stderr
		}
	default:
		s = string(raw)
	}
	return text.Cut(text.Clean(s), maxOutput)
}

// response returns a result as hooks get it: the fields of Claude Code's tools, and jcode's own.
func response(call tools.Call, res tools.Result) map[string]any {
	out := map[string]any{}
	if raw, err := json.Marshal(res.Data); err == nil {
		_ = json.Unmarshal(raw, &out) // a value that is not an object has no fields
	}
	if out == nil {
		out = map[string]any{}
	}
	out["content"], out["is_error"] = res.Text, res.Failed
	switch card := toolcard.Of(call.Name); {
	case card.Kind == toolcard.Execute && card.Access != "":
		for _, key := range []string{"stdout", "stderr"} {
			if _, has := out[key].(string); !has {
				out[key] = map[string]string{"stdout": res.Text}[key]
			}
		}
		out["interrupted"], out["isImage"] = false, false
	case card.Arguments["path"] != "" && card.Kind == toolcard.Edit: // one file, named by the call
		out["success"] = !res.Failed
		var args struct{ Path string }
		if json.Unmarshal(call.Arguments, &args) == nil {
			out["filePath"] = args.Path
		}
	}
	return out
}

// AfterCall implements tools.Hook.
func (Calls) AfterCall(tools.Call, tools.Outcome) {}
