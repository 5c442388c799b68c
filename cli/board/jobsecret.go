package board

import (
	"context"
	"strconv"

	"jcode/agent/event"
	"jcode/tools"
	"jcode/tools/builtin"
)

// AskSecret puts the question of a job for a password to the person. The answer is returned to the job and nothing else
// learns it: a form's answer is no event, and its field is marked so that no front end shows or keeps it.
func (b *Board) AskSecret(ctx context.Context, q builtin.SecretQuestion) (string, bool) {
	conv := b.Open()
	if conv == nil {
		return "", false
	}
	const field = "password"
	answer, err := conv.Person().AskForm(ctx, tools.Form{
		From: q.Program, Text: "job " + strconv.Itoa(q.Job) + " (" + q.Command + ") asks for a password, which goes to it alone: the model never sees it.",
		Fields: []tools.FormField{{Name: field, Title: q.Prompt, Kind: tools.FieldText, Required: true, Secret: true}},
	})
	if err != nil || answer.Action != tools.FormAccept {
		if ctx.Err() == nil {
			b.Say(event.LevelWarn, "job %d (%s) waits for a password that it was not given; /jobs shows it.", q.Job, q.Command)
		}
		return "", false
	}
	secret, ok := answer.Values[field].(string)
	return secret, ok
}
