package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"jcode/internal/paths"
	"jcode/tools"
)

// checkoutGuard keeps an agent in a worktree out of the checkouts that the worktree is a copy of: agents copy
// paths from what they are told. A path written in a call's arguments is refused before planning, a path that
// they resolve to is refused before judgement; both refusals name the path to use instead.
type checkoutGuard struct {
	originals []string // roots that the agent must not use
	own       string   // its worktree
	home      string
	shared    []string // folders of the originals that the worktree links to
}

func (e checkoutGuard) refusal(original, rel string) string {
	return fmt.Sprintf("%s belongs to the main checkout, and you work in your own worktree: use %s instead. It was not run",
		filepath.Join(original, rel), filepath.Join(e.own, rel))
}

// BeforeCall implements tools.Hook.
func (e checkoutGuard) BeforeCall(_ context.Context, call tools.Call) tools.Verdict {
	for _, original := range e.originals {
		for _, spelling := range e.spellings(original) {
			if rel, ok := named(string(call.Arguments), spelling); ok && !e.isShared(filepath.Join(original, rel)) {
				return tools.Verdict{By: "worktree", Refuse: e.refusal(original, rel)}
			}
		}
	}
	return tools.Verdict{}
}

// AfterCall implements tools.Hook and does nothing.
func (checkoutGuard) AfterCall(tools.Call, tools.Outcome) {}

// spellings returns the ways in which a folder is written.
func (e checkoutGuard) spellings(dir string) []string {
	all := []string{dir}
	if rel, err := filepath.Rel(e.home, dir); err == nil && e.home != "" && rel != "." && filepath.IsLocal(rel) {
		for _, home := range []string{"~", "$HOME", "${HOME}"} {
			all = append(all, home+string(filepath.Separator)+rel)
		}
	}
	return all
}

// named finds a folder in a call's arguments, and returns the path below it.
func named(args, dir string) (rel string, ok bool) {
	quoted, err := json.Marshal(dir)
	if err != nil || len(dir) < 2 {
		return "", false
	}
	want := string(quoted[1 : len(quoted)-1])
	for rest := args; ; {
		i := strings.Index(rest, want)
		if i < 0 {
			return "", false
		}
		before, after := rest[:i], rest[i+len(want):]
		rest = after
		if before != "" && !strings.ContainsAny(before[len(before)-1:], "\"' =:;|&()<>`,[{\n\t") {
			continue // the end of a longer path
		}
		if after != "" && (after[0] == '/' || strings.ContainsAny(after[:1], "\"'\\ ;|&()<>`,]}")) {
			end := strings.IndexAny(after, "\"'\\ ;|&()<>`,]}")
			if end < 0 {
				end = len(after)
			}
			return strings.TrimPrefix(after[:end], "/"), true
		}
	}
}

// isShared reports whether a path is in a folder that the worktree links to.
func (e checkoutGuard) isShared(path string) bool {
	return slices.ContainsFunc(e.shared, func(dir string) bool { return paths.Within(dir, path) })
}

// checkoutGate refuses a plan that touches another checkout, however the path was written. Everything else is
// passed to the gate that it wraps.
type checkoutGate struct {
	behind tools.Gate
	e      checkoutGuard
}

// Offered implements tools.Gate.
func (g checkoutGate) Offered(spec tools.Spec, mode tools.Mode) (bool, string) {
	return g.behind.Offered(spec, mode)
}

// Denied implements tools.Concealer.
func (g checkoutGate) Denied(kind tools.AccessKind, path string) string {
	if behind, ok := g.behind.(tools.Concealer); ok {
		return behind.Denied(kind, path)
	}
	return ""
}

// Check implements tools.Gate.
func (g checkoutGate) Check(ctx context.Context, req tools.GateRequest) tools.Decision {
	for _, access := range req.Plan.Accesses {
		for _, path := range []string{access.Path, access.Dir} {
			if path == "" || paths.Within(g.e.own, path) || g.e.isShared(path) {
				continue
			}
			for _, original := range g.e.originals {
				if rel, err := filepath.Rel(original, path); err == nil && filepath.IsLocal(rel) {
					return tools.Decision{By: tools.ByPolicy, Rule: "worktree", Reason: g.e.refusal(original, rel), Kind: tools.KindInvalidArgs}
				}
			}
		}
	}
	return g.behind.Check(ctx, req)
}
