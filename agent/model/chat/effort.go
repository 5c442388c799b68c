package chat

import (
	"fmt"
	"slices"
	"strings"

	"jcode/agent/model"
)

// effortLevels are the names of reasoning efforts, from none to the most.
func effortLevels() []string {
	return []string{"none", "minimal", "low", "medium", "high", "xhigh", "max"}
}

// learnEfforts reads out of a refusal which efforts the model knows, and says which one is
// sent instead.
func (f *features) learnEfforts(r *model.Request, said string) (string, bool) {
	if !f.effort || r.ReasoningEffort == "" || f.efforts != nil || f.forcedEffort != "" || !strings.Contains(said, "effort") {
		return "", false
	}
	var known []string
	for _, before := range []string{"supported levels", "supported values", "one of", "must be"} {
		if _, list, ok := strings.Cut(said, before); ok {
			known = levelsIn(list)
			break
		}
	}
	if len(known) == 0 || slices.Contains(known, r.ReasoningEffort) {
		return "", false
	}
	f.efforts = known
	return fmt.Sprintf("%s: the model knows no reasoning effort %q; %q is sent", r.Model, r.ReasoningEffort, f.nearestEffort(r.ReasoningEffort)), true
}

// levelsIn finds the names of efforts in a list in words.
func levelsIn(s string) (out []string) {
	if end := strings.IndexAny(s, "\n{}"); end >= 0 {
		s = s[:end]
	}
	words := strings.FieldsFunc(s, func(r rune) bool { return r < 'a' || r > 'z' })
	for _, level := range effortLevels() {
		if slices.Contains(words, level) {
			out = append(out, level)
		}
	}
	return out
}

// nearestEffort is the level that the model knows which is nearest to the given one, the
// lower one of two.
func (f *features) nearestEffort(want string) string {
	levels := effortLevels()
	at := slices.Index(levels, want)
	if len(f.efforts) == 0 || at < 0 || slices.Contains(f.efforts, want) {
		return want
	}
	for d := 1; d < len(levels); d++ {
		for _, i := range []int{at - d, at + d} {
			if i >= 0 && i < len(levels) && slices.Contains(f.efforts, levels[i]) {
				return levels[i]
			}
		}
	}
	return want
}
