package agentscli

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

// CheckoutGuard keeps an agent in a worktree out of the checkouts that the worktree is a copy of: agents copy
// paths from what they are told. A path written in a call's arguments is refused before planning, a path that
// they resolve to is refused before judgement; both refusals name the path to use instead.
type CheckoutGuard struct {
	Originals []string // roots that the agent must not use
	Own       string   // its worktree
	Home      string
	Shared    []string // folders of the originals that the worktree links to
}

func (e CheckoutGuard) refusal(original, rel string) string {
	return fmt.Sprintf("%s belongs to the main checkout, and you work in your own worktree: use %s instead. It was not run",
		filepath.Join(original, rel), filepath.Join(e.Own, rel))
}

// BeforeCall implements tools.Hook.
func (e CheckoutGuard) BeforeCall(_ context.Context, call tools.Call) tools.Verdict {
	for _, original := range e.Originals {
		for _, spelling := range e.spellings(original) {
			if rel, ok := named(string(call.Arguments), spelling); ok && !e.isShared(filepath.Join(original, rel)) {
				return tools.Verdict{By: "worktree", Refuse: e.refusal(original, rel)}
			}
		}
	}
	return tools.Verdict{}
}

// AfterCall implements tools.Hook and does nothing.
func (CheckoutGuard) AfterCall(tools.Call, tools.Outcome) {}

// spellings returns the ways in which a folder is written.
func (e CheckoutGuard) spellings(dir string) []string {
	all := []string{dir}
	if rel, err := filepath.Rel(e.Home, dir); err == nil && e.Home != "" && rel != "." && filepath.IsLocal(rel) {
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
func (e CheckoutGuard) isShared(path string) bool {
	return slices.ContainsFunc(e.Shared, func(dir string) bool { return paths.Within(dir, path) })
}

// CheckoutGate refuses a plan that touches another checkout, however the path was written. Everything else is
// passed to the gate that it wraps.
type CheckoutGate struct {
	Behind tools.Gate
	Guard  CheckoutGuard
}

// Offered implements tools.Gate.
func (g CheckoutGate) Offered(spec tools.Spec, mode tools.Mode) (bool, string) {
	return g.Behind.Offered(spec, mode)
}

// Denied implements tools.Concealer.
func (g CheckoutGate) Denied(kind tools.AccessKind, path string) string {
	if behind, ok := g.Behind.(tools.Concealer); ok {
		return behind.Denied(kind, path)
	}
	return ""
}

// Check implements tools.Gate.
func (g CheckoutGate) Check(ctx context.Context, req tools.GateRequest) tools.Decision {
	for _, access := range req.Plan.Accesses {
		for _, path := range []string{access.Path, access.Dir} {
			if path == "" || paths.Within(g.Guard.Own, path) || g.Guard.isShared(path) {
				continue
			}
			for _, original := range g.Guard.Originals {
				if rel, err := filepath.Rel(original, path); err == nil && filepath.IsLocal(rel) {
					return tools.Decision{By: tools.ByPolicy, Rule: "worktree", Reason: g.Guard.refusal(original, rel), Kind: tools.KindInvalidArgs}
				}
			}
		}
	}
	return g.Behind.Check(ctx, req)
}
