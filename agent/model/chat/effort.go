package chat

import (
	"fmt"
	"slices"

	"jcode/agent/model"
	"jcode/agent/model/endpoint"
)

// learnEfforts finds in a refusal which efforts the model knows, and says which one is sent instead.
func (f *features) learnEfforts(r *model.Request, said string) (string, bool) {
	if !f.effort || r.ReasoningEffort == "" || f.efforts != nil || f.forcedEffort != "" {
		return "", false
	}
	known := endpoint.EffortsIn(said)
	if len(known) == 0 || slices.Contains(known, r.ReasoningEffort) {
		return "", false
	}
	f.efforts = known
	return fmt.Sprintf("%s: the model knows no reasoning effort %q; %q is sent", r.Model, r.ReasoningEffort, endpoint.NearestEffort(known, r.ReasoningEffort)), true
}
