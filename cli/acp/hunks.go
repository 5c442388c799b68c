package acp

import (
	"context"
	"fmt"
	"slices"

	"jcode/internal/text"
	"jcode/tools"
)

// hunksOf returns names of the hunks of a change, where they can be chosen: an answer to a permission request names
// an option and nothing else, so that takes a form.
func (o *openSession) hunksOf(q tools.Question) (names []string) {
	hunks := q.Hunks()
	if !o.canElicit() || !slices.ContainsFunc(q.Options, func(a tools.AnswerOption) bool { return a.Scope == tools.AnswerOnce }) {
		return nil
	}
	for i, h := range hunks {
		names = append(names, text.Visible(fmt.Sprintf("%d: %s line %d +%d -%d", i+1, h.Name, h.First(), h.Added, h.Removed)))
	}
	return names
}

// chooseHunks asks in a form which hunks may be written. Anything but a clear choice is a no.
func (o *openSession) chooseHunks(ctx context.Context, q tools.Question) (tools.AnswerScope, []int) {
	names := o.hunksOf(q)
	answer, err := o.elicit(ctx, tools.Form{Text: q.Heading() + ": which hunks may be written?", Fields: []tools.FormField{{
		Name: "hunks", Title: "Hunks", Kind: tools.FieldChoices, Required: true, Options: names, Default: names,
	}}})
	if err != nil && ctx.Err() == nil {
		o.say("The choice of hunks could not be read, which counts as no: " + err.Error())
	}
	taken, _ := answer.Values["hunks"].([]string)
	if err != nil || answer.Action != tools.FormAccept || len(taken) == 0 {
		return tools.AnswerNo, nil
	}
	out := make([]int, 0, len(taken))
	for i, name := range names {
		if slices.Contains(taken, name) {
			out = append(out, i)
		}
	}
	if len(out) == len(names) {
		return tools.AnswerOnce, nil
	}
	return tools.AnswerOnce, out
}
