package endpoint

import (
	"fmt"
	"strings"

	"jcode/agent/model"
	"jcode/internal/schema"
)

// answerSchema is the name of the remedy, and of what was said about a schema.
const answerSchema = "answer schema"

// FitAnswer brings the schema of a request's answer into the form that the endpoint takes, or takes it out where that is
// not known to take one. notice says, once, why it was taken out.
func (f *Form) FitAnswer(r *model.Request, subset schema.Subset) (notice string) {
	if len(r.Answer) == 0 {
		return ""
	}
	given := r.Answer
	r.Answer = nil
	if !f.Answers {
		return ""
	}
	fitting, err := subset.Fit(given)
	if err == nil {
		r.Answer = fitting
		return ""
	}
	if f.tried[answerSchema] {
		return ""
	}
	f.tried[answerSchema] = true
	return fmt.Sprintf("%s: the provider can't take the schema of the answer (%v): the model reads it with the prompt, and the answer is checked", r.Model, err)
}

// WithoutAnswerSchema is a remedy that all protocols have. The words are those by which an endpoint names it.
func WithoutAnswerSchema[F any](form func(*F) *Form, words ...string) Remedy[F] {
	return Remedy[F]{
		Name:   answerSchema,
		Words:  words,
		Sent:   func(f *F, r *model.Request) bool { return form(f).Answers && len(r.Answer) > 0 },
		Apply:  func(f *F) { form(f).Answers = false },
		Notice: "the endpoint refuses a schema of the answer: the model reads it with the prompt, and the answer is checked",
	}
}

// StrictAnswers is what OpenAI's endpoints, and those that follow them, take as the schema of an answer.
func StrictAnswers() schema.Subset {
	return schema.Subset{
		Keywords: strings.Fields(`type properties required additionalProperties items anyOf enum const $ref $defs title description
			pattern format minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minItems maxItems`),
		Closed: true, Required: true, Depth: 10, Properties: 5000,
	}
}
