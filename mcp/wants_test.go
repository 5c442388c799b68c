package mcp

import (
	"maps"
	"testing"

	"jcode/mcp/config"
)

func TestExclusiveClaimsReplaceTheSessionsOwn(t *testing.T) {
	t.Parallel()
	w := newWants(newApprovals(Options{}, config.Environment{}))
	w.base.names["a"], w.own.names["b"] = true, true
	role := w.claim()
	role.names["b"], role.names["c"] = true, true
	for _, step := range []struct {
		name string
		do   func()
		want map[string]int
	}{
		{"beside the session's", func() {}, map[string]int{"a": 1, "b": 2, "c": 1}},
		{"instead of the session's", func() { role.exclusive = true }, map[string]int{"b": 2, "c": 1}},
		{"a server is dropped", func() { w.drop("b", "the person") }, map[string]int{"c": 1}},
		{"the claim ends", func() { w.give(role) }, map[string]int{"a": 1}},
	} {
		if step.do(); !maps.Equal(w.held(), step.want) {
			t.Errorf("%s: held %v, want %v", step.name, w.held(), step.want)
		}
	}
}
