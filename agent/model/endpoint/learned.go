package endpoint

import (
	"strings"
	"sync"

	"jcode/agent/model"
)

// Learned holds what a client has learned about each model from refusals, for as long as the client exists. F
// are the features of a protocol. It is safe for concurrent use: Of returns a copy.
type Learned[F any] struct {
	first func(model string) *F
	clone func(*F) *F

	mu      sync.Mutex
	byModel map[string]*F
}

// NewLearned returns an empty Learned. first returns the features that a model is assumed to have.
func NewLearned[F any](first func(model string) *F, clone func(*F) *F) *Learned[F] {
	return &Learned[F]{first: first, clone: clone, byModel: map[string]*F{}}
}

// Of returns the features of a model.
func (l *Learned[F]) Of(id string) *F {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := l.byModel[id]
	if f == nil {
		f = l.first(id)
		l.byModel[id] = f
	}
	return l.clone(f)
}

// Holds reports whether a condition holds for the features of a model; false for a model that was not asked
// before. The condition must not keep or change its argument.
func (l *Learned[F]) Holds(id string, condition func(*F) bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := l.byModel[id]
	return f != nil && condition(f)
}

// Keep remembers the features of a model.
func (l *Learned[F]) Keep(id string, f *F) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.byModel[id] = l.clone(f)
}

// Remedy is one way to respond to a refusal: another form of the request.
type Remedy[F any] struct {
	Name string
	// Fields are the names by which a refusal's own field can say that it is about this.
	Fields []string
	// Words are looked for in what is refused, without advice; Advice also in what is recommended.
	Words  []string
	Advice []string
	// Sent says whether the request had in it what the remedy leaves out or changes.
	Sent   func(f *F, r *model.Request) bool
	Apply  func(f *F)
	Notice string
}

// TryRemedy applies the first remedy that fits what was refused and has not been tried before; nil if none does.
// A remedy whose field the refusal names goes before all others.
func TryRemedy[F any](list []Remedy[F], f *F, form *Form, r *model.Request, refusal Fault) *Remedy[F] {
	refused, whole := refusal.Refused(), strings.ToLower(refusal.Whole())
	for _, fits := range []func(*Remedy[F]) bool{
		func(m *Remedy[F]) bool { return refusal.names(m.Fields) },
		func(m *Remedy[F]) bool { return ContainsAny(refused, m.Words) || ContainsAny(whole, m.Advice) },
	} {
		for i := range list {
			m := &list[i]
			if form.tried[m.Name] || !m.Sent(f, r) || !fits(m) {
				continue
			}
			form.tried[m.Name] = true
			m.Apply(f)
			return m
		}
	}
	return nil
}
