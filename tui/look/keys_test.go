package look

import (
	"strings"
	"testing"
)

func TestKeysCanBeRebound(t *testing.T) {
	t.Parallel()
	km, problems := NewKeymap(map[string][]string{"editor": {"ctrl+r"}, "nope": {"x"}, "undo": {"Shift+Ctrl+Z"}})
	if km.Of("ctrl+r") != Editor {
		t.Errorf("ctrl+r does %q", km.Of("ctrl+r"))
	}
	if km.Of("ctrl+shift+z") != Undo || km.Of("ctrl+_") != "" {
		t.Error("undo is not where it was put")
	}
	all := strings.Join(problems, "\n")
	for _, want := range []string{`unknown action "nope"`, "ctrl+r is bound to both editor and history_search; it does editor"} {
		if !strings.Contains(all, want) {
			t.Errorf("no %q in %q", want, all)
		}
	}
	if _, problems := NewKeymap(nil); len(problems) != 0 {
		t.Errorf("the table itself has conflicts: %v", problems)
	}
}
