package permission_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"jcode/tools"
)

// newcomer is a tool that nobody but its author has thought of: it prints the files of a folder, without a plan.
type newcomer struct{ dir string }

func (newcomer) Spec() tools.Spec {
	return tools.Spec{Name: "print_all", ReadOnly: true, Trusted: true, Needs: tools.CapRead, Group: tools.GroupBuiltin, Parameters: json.RawMessage(`{"type":"object","properties":{}}`)}
}

func (n newcomer) Run(_ context.Context, call tools.Call) (tools.Result, error) {
	var b strings.Builder
	list, err := os.ReadDir(n.dir)
	if err != nil {
		return tools.Result{}, err
	}
	for _, e := range list {
		path := filepath.Join(n.dir, e.Name())
		if call.Hides(path) || e.IsDir() {
			continue
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return tools.Result{}, err
		}
		b.Write(data)
	}
	return tools.Result{Text: b.String()}, nil
}

// A tool that is new is covered by the rules on what it needs, and learns with its call what may not be read.
func TestARuleOnReadingCoversAToolThatIsNew(t *testing.T) {
	t.Parallel()
	root, home := workspace(t)
	dir := filepath.Join(root, "new")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"open.h": "open", "secret.h": "hunter2"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		deny          []string
		offered       bool
		open, secrets bool
	}{
		{nil, true, true, true},
		{[]string{"read(secret.h)"}, true, true, false},
		{[]string{"read"}, false, false, false},
		{[]string{"write"}, true, true, true},
	} {
		g := newGate(t, root, home, parseRules(t, nil, nil, c.deny))
		reg := tools.NewRegistry()
		if err := reg.Register(tools.OwnerBuiltin, tools.RankBuiltin, newcomer{dir}); err != nil {
			t.Fatal(err)
		}
		if ok, why := g.Offered(newcomer{}.Spec(), tools.ModeAsk); ok != c.offered {
			t.Errorf("%v: offered %v (%s)", c.deny, ok, why)
		}
		d := &tools.Dispatcher{Registry: reg, Gate: g}
		got := d.Dispatch(t.Context(), tools.Call{ID: "c", Name: "print_all", Arguments: json.RawMessage(`{}`), Caller: tools.Caller{Session: "s", Origin: tools.OriginModel}}).Result.Text
		if strings.Contains(got, "open") != c.open || strings.Contains(got, "hunter2") != c.secrets {
			t.Errorf("%v: it printed %q", c.deny, got)
		}
	}
}
