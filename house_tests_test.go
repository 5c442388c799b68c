package main

import (
	"go/ast"
	"strings"
	"testing"
)

// sleeps are the files of tests that may sleep, each with how often and why. Elsewhere a test waits for what it wants to see
// (internal/testkit/eventually), or time itself is played (testing/synctest).
var sleeps = map[string]struct {
	times int
	why   string
}{
	"agent/model/chat/pace_test.go":         {1, "a body that comes piece by piece, in a bubble of synctest"},
	"agent/model/chat/stopped_unix_test.go": {1, "the time in which a process is stopped is what is tested"},
	"cli/shared_test.go":                    {1, "an edit comes at a random moment"},
	"cli/tasks_test.go":                     {1, "a worker is killed at a random moment"},
	"internal/testkit/leaks/leaks_test.go":  {1, "a goroutine that ends late"},
	"internal/worktree/repair_test.go":      {1, "an entry that git writes slowly"},
	"lua/approval_test.go":                  {1, "a script is cancelled in the middle of its loop"},
	"lua/reload_test.go":                    {1, "an editor that writes slowly"},
	"remote/attach_test.go":                 {1, "events come at a pace"},
	"tasks/queue/fleet_test.go":             {2, "a worker that beats, and tasks that take a moment"},
	"tui/asking_test.go":                    {1, "a person who types, in a bubble of synctest"},
	"tui/child_test.go":                     {2, "words come at a pace; the moment of a key is what is tested"},
	"tui/input_test.go":                     {2, "the pause between the parts of a key, and after a paste, is what is tested"},
	"tui/program_test.go":                   {1, "words come at a pace"},
}

// A test that sleeps is slow where the time is too long, and fails now and then where it is too short.
func TestTestsWaitAndDoNotSleep(t *testing.T) {
	found := map[string]int{}
	for _, f := range houseFiles(t) {
		if !f.test || f.room == "bench" {
			continue
		}
		for _, d := range f.ast.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && !strings.HasPrefix(fn.Name.Name, "Benchmark") && !helpsBenchmarks(fn) {
				found[f.path] += sleepsOf(fn)
			}
		}
	}
	for file, n := range found {
		if allowed := sleeps[file]; n != allowed.times {
			t.Errorf("%s sleeps %d times, and %d are known: wait for what the test wants to see (internal/testkit/eventually), or play the time (testing/synctest)", file, n, allowed.times)
		}
	}
	for file, known := range sleeps {
		if found[file] == 0 {
			t.Errorf("%s sleeps no longer (%s): take it off the list", file, known.why)
		}
	}
}

// helpsBenchmarks reports whether a function is called by benchmarks alone: its first parameter is one.
func helpsBenchmarks(fn *ast.FuncDecl) bool {
	for _, p := range fn.Type.Params.List {
		if star, ok := p.Type.(*ast.StarExpr); ok {
			if sel, ok := star.X.(*ast.SelectorExpr); ok && sel.Sel.Name == "B" {
				return true
			}
		}
	}
	return false
}

// sleepsOf counts the calls of time.Sleep below a node outside the bubbles of synctest.
func sleepsOf(n ast.Node) (times int) {
	ast.Inspect(n, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if call, isCall := n.(*ast.CallExpr); isCall {
			if fn, ok := call.Fun.(*ast.SelectorExpr); ok && selects(fn, "synctest", "Test") {
				return false
			}
		}
		if ok && selects(sel, "time", "Sleep") {
			times++
		}
		return true
	})
	return times
}

// selects reports whether an expression is a name of a package.
func selects(sel *ast.SelectorExpr, pkg, name string) bool {
	x, ok := sel.X.(*ast.Ident)
	return ok && x.Name == pkg && sel.Sel.Name == name
}
