package permission_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"jcode/tools"
	"jcode/tools/permission"
)

// rows is a trust store in memory.
type rows struct {
	mu   sync.Mutex
	list []permission.TrustRow
	err  error
}

func (r *rows) Trusted(context.Context) ([]permission.TrustRow, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.list), r.err
}

func (r *rows) AddTrust(_ context.Context, add ...permission.TrustRow) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = append(r.list, add...)
	return r.err
}

func (r *rows) RemoveTrust(_ context.Context, kind tools.TrustKind, name string) (bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := len(r.list)
	r.list = slices.DeleteFunc(r.list, func(row permission.TrustRow) bool { return row.Kind == kind && row.Name == name })
	return len(r.list) < n, r.err
}

func items() []tools.TrustItem {
	return []tools.TrustItem{
		{Kind: tools.TrustMCP, Name: "docs", Hash: "h1", File: ".mcp.json", Runs: []string{"npx -y docs" + strings.Repeat(" ", 80) + "--evil"}},
		{Kind: tools.TrustLuaTool, Name: "count", Hash: "h2", Runs: []string{`{"intents":["exec"]}`}},
	}
}

func trusted(t *testing.T, tr *permission.Trust, i tools.TrustItem) bool {
	t.Helper()
	ok, err := tr.Trusted(context.Background(), i)
	if err != nil {
		t.Fatal(err)
	}
	return ok
}

func TestNothingOfAProjectRunsBeforeTrust(t *testing.T) {
	t.Parallel()
	ctx, store := context.Background(), &rows{}
	tr := permission.NewTrust("/p", store, false)
	for _, i := range items() {
		if trusted(t, tr, i) {
			t.Errorf("%s runs untrusted", i.Name)
		}
	}
	if n, err := tr.Notice(ctx, items()); err != nil || !strings.Contains(n, "lua tool count, mcp docs") || !strings.Contains(n, "--trust") {
		t.Errorf("notice %q %v", n, err)
	}
	q, ok, err := tr.Question(ctx, items())
	if err != nil || !ok || len(q.Items) != 2 {
		t.Fatalf("%+v %v %v", q, ok, err)
	}
	lines := strings.Join(q.Lines(), "\n")
	for _, want := range []string{"mcp docs (.mcp.json)", "npx -y docs ⟨80 spaces⟩ --evil", `{"intents":["exec"]}`} {
		if !strings.Contains(lines, want) {
			t.Errorf("question lacks %q:\n%s", want, lines)
		}
	}
	if err := tr.Accept(ctx, q.All(), true); err != nil {
		t.Fatal(err)
	}
	if _, ok, _ := tr.Question(ctx, items()); ok || len(store.list) != 2 {
		t.Errorf("asks again; rows %v", store.list)
	}
	// Only what changed is asked about again.
	changed := items()
	changed[0].Hash = "h1b"
	q, ok, _ = permission.NewTrust("/p", store, false).Question(ctx, changed)
	if !ok || len(q.Items) != 1 || !q.Items[0].Changed || !strings.Contains(q.Lines()[0], "changed since you trusted it") {
		t.Errorf("%+v", q)
	}
}

func TestTrustForOneRunStoresNothing(t *testing.T) {
	t.Parallel()
	ctx, store := context.Background(), &rows{}
	if tr := permission.NewTrust("/p", store, true); !trusted(t, tr, items()[0]) {
		t.Error("--trust does not trust")
	}
	tr := permission.NewTrust("/p", store, false)
	q, _, _ := tr.Question(ctx, items())
	if err := tr.Accept(ctx, q.All()[:1], false); err != nil || !trusted(t, tr, q.Items[0].TrustItem) || trusted(t, tr, q.Items[1].TrustItem) || len(store.list) != 0 {
		t.Errorf("%v %v", err, store.list)
	}
}

func TestDeclinedThingsStayInertAndQuiet(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	tr := permission.NewTrust("/p", nil, false)
	q, _, _ := tr.Question(ctx, items())
	if err := tr.Decline(ctx, q.All(), false); err != nil {
		t.Fatal(err)
	}
	if _, ok, _ := tr.Question(ctx, items()); ok || trusted(t, tr, items()[0]) {
		t.Error("asks again, or runs")
	}
	more := append(items(), tools.TrustItem{Kind: tools.TrustRole, Name: "r", Hash: "x"})
	if q, ok, _ := tr.Question(ctx, more); !ok || len(q.Items) != 1 {
		t.Errorf("what came later: %+v", q)
	}
}

// A no is remembered like a yes: for this version, and it can be taken back.
func TestANoIsRememberedUntilSomethingChanges(t *testing.T) {
	t.Parallel()
	ctx, store := context.Background(), &rows{}
	q, _, _ := permission.NewTrust("/p", store, false).Question(ctx, items())
	if err := permission.NewTrust("/p", store, false).Decline(ctx, q.All(), true); err != nil {
		t.Fatal(err)
	}
	later := permission.NewTrust("/p", store, false) // another run
	if q, ok, err := later.Question(ctx, items()); ok || err != nil || trusted(t, later, items()[0]) {
		t.Errorf("asks again, or runs: %+v, %v", q, err)
	}
	if names, err := later.Refused(ctx, items()); err != nil || len(names) != len(items()) {
		t.Errorf("refused: %v, %v", names, err)
	}
	changed := items()
	changed[0].Hash = "another"
	q, ok, err := later.Question(ctx, changed)
	if !ok || err != nil || len(q.Items) != 1 || q.Items[0].Changed {
		t.Errorf("a changed version: %+v, %v", q, err)
	}
	q, ok, err = later.Again(ctx, items())
	if !ok || err != nil || len(q.Items) != len(items()) {
		t.Errorf("asked for: %+v, %v", q, err)
	}
	if err := later.Accept(ctx, q.All(), true); err != nil || !trusted(t, permission.NewTrust("/p", store, false), items()[0]) {
		t.Errorf("a yes after a no: %v", err)
	}
}

func TestTrustFailsClosed(t *testing.T) {
	t.Parallel()
	tr := permission.NewTrust("/p", &rows{err: errors.New("disk on fire")}, false)
	if ok, err := tr.Trusted(context.Background(), items()[0]); ok || err == nil {
		t.Errorf("%v %v", ok, err)
	}
	tr = permission.NewTrust("/p", nil, false)
	bare := tools.TrustItem{Kind: tools.TrustMCP, Name: "x"}
	if err := tr.Accept(context.Background(), []tools.TrustItem{bare}, true); err == nil || trusted(t, tr, bare) {
		t.Error("something without a hash was trusted")
	}
}
