package lspcli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"jcode/cli/core"
	"jcode/internal/proc"
	"jcode/internal/startfiles"
	"jcode/internal/text"
	"jcode/tools"
	"jcode/tools/builtin"
	"jcode/tools/lsp"
	"jcode/tools/sandbox"
)

// rights is how a language server runs.
type rights struct {
	sandbox.Program
	env      []string        // set for it
	item     tools.TrustItem // what further rights belong to; none for a server of the person's own
	free     bool            // it is not confined, in no mode: a person allowed that
	confined bool            // in every mode
	bare     bool            // it would be confined, and this machine can't
}

// rights returns how a server runs. It is confined in every mode, since it runs code of the project, unless the
// person configured its command themselves and the program does not belong to the project.
func (a serverStarts) rights(ctx context.Context, s lsp.Start) rights {
	if s.Personal && !s.Own {
		return rights{}
	}
	var r rights
	if plugin, ok := a.Plugin(s.Plugin); ok && s.Plugin != "" {
		r = rights{Program: plugin.Program, env: plugin.Env, item: plugin.Item}
	} else {
		sum := sha256.Sum256([]byte(s.Command))
		r.item = tools.TrustItem{Kind: tools.TrustServer, Name: s.Name, Hash: hex.EncodeToString(sum[:])}
		if s.Own {
			r.item.Hash = startfiles.Pin(r.item.Hash, a.Root, s.Command)
		}
	}
	r.Network, r.free = a.has(ctx, r.item, tools.TrustNetwork), a.has(ctx, r.item, tools.TrustOutside)
	r.bare = a.Box == nil || !a.Box.Available()
	r.confined = !r.free && !r.bare
	return r
}

// has reports whether a person gave an item a further right.
func (a serverStarts) has(ctx context.Context, item tools.TrustItem, kind tools.TrustKind) bool {
	ok, err := a.Trust.Trusted(ctx, item.More(kind))
	return ok && err == nil
}

// note says in the question how the server runs.
func (r rights) note() string {
	switch {
	case r.confined && r.Network:
		return "runs confined: it writes this project only and reads no keys; it may use the network"
	case r.confined:
		return "runs confined: it writes this project only, reads no keys, and has no network"
	case r.bare:
		return "runs with all your rights: this machine can't confine it"
	case r.free:
		return "runs with all your rights, as you allowed"
	}
	return "runs with your rights: your own configuration names its command"
}

// word says the same in a list.
func (r rights) word() string {
	switch {
	case r.confined && r.Network:
		return "confined, with the network"
	case r.confined:
		return "confined"
	case r.free, r.bare:
		return "unconfined"
	}
	return ""
}

// refused says which right a confined server lacks, by its last words, and how a person gives it.
func (a serverStarts) refused(s lsp.Start, how rights, words string) string {
	why := a.Box.BlamedProgram(words, 1, how.Program)
	right := tools.TrustOutside
	switch {
	case why == "":
		return ""
	case strings.HasPrefix(why, "it has no network"):
		why, right = "it has no network", tools.TrustNetwork
	default:
		why = "it was denied something outside the project"
	}
	return fmt.Sprintf("it runs confined: %s; /lsp allow %s %s lets it", why, text.Visible(s.Name), right)
}

// give gives a server a further right, for good.
func (a serverStarts) give(ctx context.Context, s lsp.Start, right string) (notice string, err error) {
	kind, ok := core.MoreRight(right)
	if !ok {
		return "", fmt.Errorf("a server can be allowed network or outside; not %q", right)
	}
	how := a.rights(ctx, s)
	if how.item.Name == "" {
		return "", fmt.Errorf("%s is your own server: it is not confined", text.Visible(s.Name))
	}
	item := how.item.More(kind)
	if err := a.Trust.Accept(ctx, []tools.TrustItem{item}, true); err != nil {
		return "", err
	}
	return item.Title() + ": " + item.Runs[0], nil
}

// prepare returns what to start for a language server. changed lists the protected files that were made or changed
// since, and keeps them for /undo.
func (a serverStarts) prepare(call tools.Call, spec proc.Spec, how rights) (prepared proc.Spec, changed func() []string, err error) {
	spec.Env = append(spec.Env[:len(spec.Env):len(spec.Env)], how.env...)
	var before sandbox.Watched
	switch {
	case how.confined:
		if spec, before, err = a.Box.ConfineProgram(spec, how.Program); err != nil {
			return spec, nil, err
		}
	case a.Box != nil:
		before = a.Box.Watch()
	}
	if before == nil {
		return spec, nil, nil
	}
	return spec, builtin.KeepWatched(before, call.Caller, a.Keep), nil
}
