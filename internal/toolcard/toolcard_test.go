package toolcard

import (
	"slices"
	"testing"
)

func TestCardsAreSortedAndUnique(t *testing.T) {
	t.Parallel()
	names := Names()
	if !slices.IsSorted(names) || len(slices.Compact(slices.Clone(names))) != len(names) {
		t.Errorf("names are not sorted, or one occurs twice: %v", names)
	}
}

func TestCardsNameRulesThatExist(t *testing.T) {
	t.Parallel()
	for _, c := range cards() {
		for _, rule := range c.Under {
			if !slices.Contains(Names(), rule) || rule == c.Name {
				t.Errorf("%s is under the rule %q, which is no other tool's", c.Name, rule)
			}
		}
	}
}

func TestANameOfAnotherAgentMeansOneTool(t *testing.T) {
	t.Parallel()
	means := map[string]string{}
	for _, c := range cards() {
		for _, name := range append(slices.Clone(c.Theirs), c.Trained...) {
			ours, ok := Ours(name)
			if !ok || ours != c.Name {
				t.Errorf("%s means %q, want %s", name, ours, c.Name)
			}
			if other := means[name]; other != "" {
				t.Errorf("%s stands for %s and %s", name, other, c.Name)
			}
			means[name] = c.Name
		}
	}
}

func TestOtherNamesHaveAnEmptyCard(t *testing.T) {
	t.Parallel()
	if c := Of("mcp:a:b"); c.Kind != Other || c.Access != "" || c.Under != nil {
		t.Errorf("%+v", c)
	}
}
