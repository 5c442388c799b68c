package modelscli

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"jcode/agent/model/dial"
	"jcode/agent/model/provider"
	"jcode/agent/model/replay"
	"jcode/cli/console"
	"jcode/cli/health"
)

// Check is the doctor's check: it finds the model that a start would use, and tests its endpoint unless nothing shall be
// contacted (offline). A model that the command line names (named) is tried with a request.
func Check(ctx context.Context, settings provider.Settings, named, offline bool, r *health.Report) {
	target, err := provider.Resolve(settings)
	switch {
	case errors.Is(err, provider.ErrNoProvider):
		r.Fail("model", localAdvice(ctx, settings, offline), console.ExitUsage, "%v", err)
		return
	case err != nil:
		r.Fail("model", "", console.ExitUsage, "%v", err)
		return
	case target.Replay != "":
		if _, err := replay.Open(target.Replay, replay.Options{}); err != nil {
			r.Fail("model", "", console.ExitUsage, "%v", err)
			return
		}
		r.OK("model", "the script %s", target.Replay)
		return
	}
	r.OK("model", "%s at %s", cmp.Or(target.Model, "the first coding model"), target.Provider.Address())
	if offline {
		return
	}
	try := dial.Endpoint
	if named && target.Model != "" {
		try = dial.Probe
		r.OK("model", "tries %s with one request, of fewer than %d tokens", target.Model, dial.ProbeTokens)
	}
	for _, check := range try(ctx, target.Provider, target.Model) {
		line := health.Finding{Area: "model", State: health.OK, Text: check.Name + ": " + check.Detail, Advice: check.Advice, Exit: console.ExitModel}
		switch {
		case !check.OK && check.Name == "models":
			line.State = health.Warn // an endpoint may work without a list
		case !check.OK:
			line.State = health.Fail
		case check.Advice != "":
			line.State = health.Warn
		}
		r.Say(line)
	}
}

// localAdvice names the model servers that run on this machine.
func localAdvice(ctx context.Context, settings provider.Settings, offline bool) string {
	if offline {
		return ""
	}
	var found []string
	for _, f := range dial.DetectLocal(ctx, settings.Known()) {
		if first, ok := provider.FirstModel(f.Provider, f.Models); ok {
			found = append(found, "-m "+f.Provider.Name+"/"+first.ID)
		}
	}
	if len(found) == 0 {
		return "or start a local server (Ollama, LM Studio, llama.cpp, vLLM); none answers now"
	}
	return "a local server answers: try " + strings.Join(found, " or ")
}
