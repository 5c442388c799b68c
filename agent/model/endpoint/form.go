package endpoint

import (
	"fmt"
	"maps"
	"slices"

	"jcode/agent/model"
	"jcode/agent/model/provider"
	"jcode/internal/schema"
)

// Form is the part of a model's features that all protocols share: what their requests may contain. It starts
// from the provider's quirks and learns from refusals.
type Form struct {
	Temperature bool
	TopP        bool
	Images      bool
	Pictures    int      // how many images a request may have, 0 if that is not known
	Documents   bool     // PDFs
	Simple      bool     // tool schemas without references and the like
	Answers     bool     // the schema of an answer is sent
	Efforts     []string // the reasoning efforts that the model knows, if a refusal named them

	tried map[string]bool // the names of the remedies that were applied
}

// NewForm returns the form that a model is assumed to accept.
func NewForm(q provider.Quirks) Form {
	samples := !provider.Yes(q.NoTemperature)
	return Form{Temperature: samples, TopP: samples, Images: !provider.Yes(q.NoImages), Documents: true, Simple: provider.Yes(q.SimpleSchemas), Answers: provider.Yes(q.AnswerSchemas), tried: map[string]bool{}}
}

// Copy returns a form that learns on its own.
func (f Form) Copy() Form {
	f.tried = maps.Clone(f.tried)
	return f
}

// Tried reports whether a remedy was applied.
func (f *Form) Tried(remedy string) bool { return f.tried[remedy] }

// Takes reports whether an image of a media type is sent to the model.
func (f *Form) Takes(mime string) bool {
	return f.Images && (f.Documents || mime != model.MIMEPDF)
}

// LearnEfforts finds in a refusal, given in lower case, which efforts the model knows, and says which one is
// sent instead.
func (f *Form) LearnEfforts(r *model.Request, said string) (string, bool) {
	if len(f.Efforts) > 0 || r.ReasoningEffort == "" {
		return "", false
	}
	known := effortsIn(said)
	if len(known) == 0 || slices.Contains(known, r.ReasoningEffort) {
		return "", false
	}
	f.Efforts = known
	return fmt.Sprintf("%s: the model knows no reasoning effort %q; %q is sent", r.Model, r.ReasoningEffort, NearestEffort(known, r.ReasoningEffort)), true
}

// WithoutTemperature is a remedy that all protocols have. form returns the form among a protocol's features.
func WithoutTemperature[F any](form func(*F) *Form) Remedy[F] {
	return Remedy[F]{
		Name:   "temperature",
		Words:  []string{"temperature"},
		Sent:   func(f *F, r *model.Request) bool { return form(f).Temperature && r.Temperature != nil },
		Apply:  func(f *F) { form(f).Temperature = false },
		Notice: "the model refuses a temperature; it is left out",
	}
}

// WithoutTopP is a remedy that all protocols have.
func WithoutTopP[F any](form func(*F) *Form) Remedy[F] {
	return Remedy[F]{
		Name:   "top_p",
		Words:  []string{"top_p"},
		Sent:   func(f *F, r *model.Request) bool { return form(f).TopP && r.TopP != nil },
		Apply:  func(f *F) { form(f).TopP = false },
		Notice: "the model refuses top_p; it is left out",
	}
}

// SimpleSchemas is a remedy that all protocols have. The words are those by which an endpoint names a tool's
// schema.
func SimpleSchemas[F any](form func(*F) *Form, words ...string) Remedy[F] {
	complexTool := func(t model.Tool) bool { return !schema.IsSimple(t.Parameters) }
	return Remedy[F]{
		Name:   "simple schemas",
		Words:  words,
		Sent:   func(f *F, r *model.Request) bool { return !form(f).Simple && slices.ContainsFunc(r.Tools, complexTool) },
		Apply:  func(f *F) { form(f).Simple = true },
		Notice: "the endpoint refuses a tool's schema; references are written out, formats and the like left out from now on",
	}
}

// WithoutDocuments is a remedy of the protocols that take PDFs.
func WithoutDocuments[F any](form func(*F) *Form) Remedy[F] {
	pdf := func(i model.Image) bool { return i.MIME == model.MIMEPDF }
	return Remedy[F]{
		Name:   "documents",
		Words:  []string{"document", "pdf", "input_file", "file_data"},
		Sent:   func(f *F, r *model.Request) bool { return form(f).Documents && form(f).Images && hasImage(r, pdf) },
		Apply:  func(f *F) { form(f).Documents = false },
		Notice: "the model does not accept PDFs; their text is sent",
	}
}

// WithoutImages is a remedy that all protocols have. The words are those by which an endpoint names images.
func WithoutImages[F any](form func(*F) *Form, words ...string) Remedy[F] {
	anyImage := func(model.Image) bool { return true }
	return Remedy[F]{
		Name:   "images",
		Words:  words,
		Sent:   func(f *F, r *model.Request) bool { return form(f).Images && hasImage(r, anyImage) },
		Apply:  func(f *F) { form(f).Images = false },
		Notice: "the model does not accept images; they are replaced by a note",
	}
}

func hasImage(r *model.Request, fits func(model.Image) bool) bool {
	return slices.ContainsFunc(r.Messages, func(m model.Message) bool { return slices.ContainsFunc(m.Images, fits) })
}
