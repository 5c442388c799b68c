package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"jcode/internal/text"
)

// maxRounds is how often the arguments of one call may be edited.
const maxRounds = 8

// Approve has a gate's check judge a call. If a person edits the arguments, plan plans the edited
// call, and that is judged in turn: what runs is what was judged. The returned request is the one
// that was judged last; an error means that the edited arguments can't be used.
func Approve(ctx context.Context, req GateRequest, check func(context.Context, GateRequest) Decision, plan func(Call) (Call, Plan, error)) (GateRequest, Decision, error) {
	dec := check(ctx, req)
	for range maxRounds {
		if !dec.Allow || dec.Arguments == nil {
			return req, dec, nil
		}
		answered, edited := req.Plan, req.Call
		edited.Arguments = dec.Arguments
		edited, next, err := plan(edited)
		if err != nil {
			return req, dec, fmt.Errorf("the edited arguments do not fit: %w", err)
		}
		if sameJSON(edited.Arguments, req.Call.Arguments) {
			return req, dec, nil
		}
		req.Call, req.Plan, req.Answered = edited, next, &answered
		dec = check(ctx, req)
	}
	if dec.Arguments != nil {
		dec = Decision{By: ByPolicy, Reason: "denied: the arguments were edited too often"}
	}
	return req, dec, nil
}

// sameJSON reports whether two JSON texts have the same value, however they are written.
func sameJSON(a, b json.RawMessage) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

// maxEditedText is how much of an edited argument the model is shown, in bytes.
const maxEditedText = 1 << 10

// editedNote tells the model which arguments a person changed before the call ran; "" if none were
// changed.
func editedNote(before, after json.RawMessage) string {
	notes := differences(before, after)
	if notes == "" {
		return ""
	}
	return "[the user edited the call before it ran; " + notes + "]\n"
}

// changedNote tells the model which arguments a hook changed before the call ran; "" if none were changed.
func changedNote(by string, before, after json.RawMessage) string {
	notes := differences(before, after)
	if notes == "" {
		return ""
	}
	return "[" + by + " changed the call before it ran; " + notes + "]\n"
}

// changed records which arguments the call ran with, if they are not those that were sent.
func (d *Display) changed(sent, ran json.RawMessage, by []string) {
	if len(by) == 0 || differences(sent, ran) == "" && differences(ran, sent) == "" {
		return
	}
	d.Ran, d.ChangedBy = ran, strings.Join(by, " and ")
	from, _ := text.CutMark(text.OneLine(text.Clean(string(sent))), maxEditedText, "…")
	d.find("changed by " + d.ChangedBy + " from " + from)
}

// differences lists the arguments of after that are not those of before.
func differences(before, after json.RawMessage) string {
	var was, is map[string]json.RawMessage
	if json.Unmarshal(before, &was) != nil || json.Unmarshal(after, &is) != nil {
		return ""
	}
	var notes []string
	for _, name := range slices.Sorted(maps.Keys(is)) {
		if sameJSON(was[name], is[name]) {
			continue
		}
		value := string(is[name])
		var s string
		if json.Unmarshal(is[name], &s) == nil {
			value = s
		}
		value, _ = text.CutMark(value, maxEditedText, "…")
		notes = append(notes, name+": "+value)
	}
	return strings.Join(notes, "; ")
}
