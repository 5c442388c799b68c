package anthropic

import (
	"jcode/agent/model"
	"jcode/agent/model/endpoint"
)

// word is what a request says about thinking.
type word int

const (
	wordNone word = iota
	wordDisabled
	wordAdaptive
	wordBudget
)

// quiet reports whether a request asks for as little thinking as there is: a title or a summary, or a person who
// wants none.
func quiet(r *model.Request) bool {
	return r.Purpose.Beside() || r.ReasoningEffort == "none" || r.ReasoningEffort == "minimal"
}

// word returns what a request to this model says about thinking. Whether a model with a budget thinks depends on
// the history, too.
func (f *features) word(r *model.Request) word {
	switch {
	case f.thinking == thinksNot:
		return wordNone
	case f.always && r.Purpose.Beside():
		return wordNone // it thinks anyway, at a low effort
	case !f.always && quiet(r):
		if f.thinking == thinksAdaptive {
			return wordDisabled
		}
		return wordNone
	case f.thinking == thinksAdaptive:
		return wordAdaptive
	}
	return wordBudget
}

// level returns the effort that a request sets; "" leaves it to the model.
func (f *features) level(r *model.Request) string {
	if !f.effort {
		return ""
	}
	if quiet(r) {
		if f.always {
			return endpoint.NearestEffort(f.Efforts, "low")
		}
		return ""
	}
	return endpoint.NearestEffort(f.Efforts, r.ReasoningEffort)
}

// most returns the longest answer that a request allows. A model that always thinks needs room for that, too.
func (f *features) most(r *model.Request) int {
	most := f.maxTokens
	if r.MaxOutputTokens > 0 {
		most = min(r.MaxOutputTokens, f.maxTokens)
	}
	if f.always && r.Purpose.Beside() {
		most = max(most, min(leastOutput, f.maxTokens))
	}
	return most
}
