package gemini

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"jcode/agent/model"
	"jcode/agent/model/catalogue"
	"jcode/agent/model/endpoint"
	"jcode/agent/model/provider"
	"jcode/internal/schema"
)

// thinks is how a model is told how much to think.
type thinks int

const (
	thinksNot    thinks = iota // nothing is said
	thinksLevel                // by a word, since Gemini 3
	thinksBudget               // by a number of tokens
)

// features is the form of request that one model of one endpoint accepts. It starts from what is known of the model and
// learns from refusals; what it learned lasts as long as the client.
type features struct {
	endpoint.Form
	thinking thinks
	shown    bool // what it thinks is asked for
	off      bool // it can be told not to think
	signs    bool // calls without a signature are refused

	// lost holds the parts whose signatures the endpoint refused.
	lost map[string]bool
}

func newFeatures(cfg provider.Config, id string) *features {
	f := &features{Form: endpoint.NewForm(cfg.Quirks), shown: true}
	name := catalogue.Name(id)
	info, known := catalogue.Lookup(id, cfg.Models)
	switch major := generation(name); {
	case known && !info.Reasons:
	case major >= 3:
		f.thinking, f.signs = thinksLevel, true
	case strings.HasPrefix(name, "gemini-2.5"):
		f.thinking, f.off = thinksBudget, strings.Contains(name, "flash")
	}
	return f
}

// fitAnswer brings the schema of an answer into the form that the model takes. Before Gemini 3 it excludes tools.
func (f *features) fitAnswer(r *model.Request) (notice string) {
	if generation(catalogue.Name(r.Model)) < 3 && len(r.Tools) > 0 {
		r.Answer = nil
		return ""
	}
	return f.FitAnswer(r, schema.Subset{Keywords: append(keywords(), "$ref", "$defs"), Depth: 20, Properties: 500})
}

// generation returns the number that a Gemini's name begins with, 0 for other models.
func generation(name string) int {
	rest, ok := strings.CutPrefix(name, "gemini-")
	if !ok {
		return 0
	}
	digits, _, _ := strings.Cut(strings.SplitN(rest, "-", 2)[0], ".")
	n, err := strconv.Atoi(digits)
	if err != nil {
		return 0
	}
	return n
}

// level returns how much a model thinks; "" leaves it to the model.
func (f *features) level(r *model.Request) string {
	want := r.ReasoningEffort
	switch {
	case r.Purpose.Beside():
		want = "low"
	case want == "":
		return ""
	}
	known := f.Efforts
	if len(known) == 0 {
		known = []string{"low", "high"} // those that all of them know
		if want == "medium" {
			return ""
		}
	}
	return endpoint.NearestEffort(known, want)
}

// budget returns how many tokens a model may think; false leaves it to the model.
func (f *features) budget(r *model.Request) (tokens int, set bool) {
	effort := r.ReasoningEffort
	if r.Purpose.Beside() {
		effort = "none"
	}
	switch effort {
	case "none":
		if f.off {
			return 0, true
		}
		return 128, true
	case "minimal":
		return 512, true
	case "low":
		return 1024, true
	case "medium":
		return 8192, true
	case "high", "xhigh", "max":
		return 24_576, true
	}
	return 0, false
}

func (f *features) clone() *features {
	c := *f
	c.Form, c.lost = f.Form.Copy(), maps.Clone(f.lost)
	return &c
}

const earlierSignatures = "earlier signatures"

// remedies returns the remedies in the order in which they are tried, each at most once per model.
func remedies() []endpoint.Remedy[features] {
	form := func(f *features) *endpoint.Form { return &f.Form }
	return []endpoint.Remedy[features]{
		{
			Name:  earlierSignatures,
			Words: []string{"thought signature", "thought_signature", "thoughtsignature"},
			Sent: func(f *features, r *model.Request) bool {
				return slices.ContainsFunc(r.Messages, func(m model.Message) bool {
					return slices.ContainsFunc(m.Opaque, func(o model.Opaque) bool { return !f.lost[o.Raw] })
				})
			},
			Apply:  func(f *features) { f.signs = true }, // learn keeps which they were
			Notice: "the endpoint refuses the signatures of the model's earlier thinking; they are left out",
		},
		{
			Name:   "signatures",
			Words:  []string{"thought signature", "thought_signature", "thoughtsignature"},
			Sent:   func(f *features, _ *model.Request) bool { return !f.signs },
			Apply:  func(f *features) { f.signs = true },
			Notice: "the model wants signatures of calls; those of others are marked as such",
		},
		{
			Name:   "thoughts",
			Words:  []string{"includethoughts", "include_thoughts"},
			Sent:   func(f *features, _ *model.Request) bool { return f.thinking != thinksNot && f.shown },
			Apply:  func(f *features) { f.shown = false },
			Notice: "the endpoint does not show what the model thinks; it is not asked for",
		},
		{
			Name:   "thinking",
			Words:  []string{"thinking"},
			Sent:   func(f *features, _ *model.Request) bool { return f.thinking != thinksNot },
			Apply:  func(f *features) { f.thinking = thinksNot },
			Notice: "the endpoint refuses the setting for thinking; it is left out",
		},
		endpoint.WithoutAnswerSchema(form, "responsejsonschema", "response_json_schema", "responsemimetype", "response_mime_type", "response mime type"),
		endpoint.WithoutTemperature(form),
		endpoint.WithoutTopP(form),
		endpoint.WithoutDocuments(form),
		endpoint.WithoutImages(form, "image", "multimodal", "vision", "inline_data", "inlinedata"),
	}
}

// learn changes the features so that the refusal does not occur again, and returns a notice for the person; false when
// there is nothing to try.
func (f *features) learn(r *model.Request, refusal endpoint.Fault) (string, bool) {
	if notice, ok := f.LearnPictures(r, refusal); ok {
		return notice, true
	}
	m := endpoint.TryRemedy(remedies(), f, &f.Form, r, refusal)
	if m == nil {
		return "", false
	}
	if m.Name == earlierSignatures {
		f.lost = map[string]bool{}
		for i := range r.Messages {
			for _, o := range r.Messages[i].Opaque {
				f.lost[o.Raw] = true
			}
		}
	}
	return fmt.Sprintf("%s: %s", r.Model, m.Notice), true
}
