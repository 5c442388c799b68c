package dial

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"jcode/agent/model"
	"jcode/agent/model/credential"
	"jcode/agent/model/provider"
)

// Check is one line of `jcode doctor`.
type Check struct {
	// Name says what was checked: "models", "stream", "tool call".
	Name string
	OK   bool
	// Detail is what was found; it never holds a key.
	Detail string
	// Advice says what to do about it; "" for nothing.
	Advice string
}

// checkWait bounds each request of Endpoint.
const checkWait = 60 * time.Second

// Endpoint tests an endpoint: its list of models, one streamed answer, one tool call. Each is tried once.
// With an empty model the first coding model of the list is used. Checks that depend on a failed one are left
// out.
func Endpoint(ctx context.Context, cfg provider.Config, id string) []Check {
	c, checks := openOnce(ctx, cfg)
	if c == nil {
		return checks
	}
	defer c.Close()
	list, err := c.ListModels(ctx)
	checks = append(checks, listCheck(cfg, list, id, err))
	if id == "" {
		first, ok := provider.FirstModel(cfg, list)
		if !ok {
			return checks
		}
		id = first.ID
	}
	streamed := checkStream(ctx, c, id)
	checks = append(checks, streamed)
	if streamed.OK {
		checks = append(checks, checkCall(ctx, c, id))
	}
	return checks
}

// openOnce returns a client that tries each request once, and the checks that need no request. The client is
// nil when the configuration is wrong.
func openOnce(ctx context.Context, cfg provider.Config) (Client, []Check) {
	cfg.Limits.Attempts = 1
	c, err := Open(cfg)
	if err != nil {
		return nil, []Check{{Name: "endpoint", Detail: err.Error(), Advice: "correct the provider's base_url in the config, or --base-url"}}
	}
	return c, append([]Check{keyCheck(ctx, cfg)}, networkChecks(c)...)
}

func keyCheck(ctx context.Context, cfg provider.Config) Check {
	k := Check{Name: "key", OK: true}
	detail, err := credential.Describe(ctx, cfg)
	switch {
	case err != nil:
		k.OK, k.Detail, k.Advice = false, err.Error(), "run it in a terminal to see what it writes, and sign in again where that is what it says"
		if len(cfg.KeyCommand) == 0 {
			k.Advice = "sign in again, or see docs/clouds.md"
		}
	case detail != "":
		k.Detail = detail
	case cfg.Key != "" || cfg.Token != "":
		k.Detail = "set (not shown)"
	case cfg.Local || cfg.KeyEnv == "":
		k.Detail = "none, which a server of your own may not need"
	default:
		k.OK, k.Detail, k.Advice = false, "none", "set "+cfg.KeyEnv+", or enter a key when jcode starts"
	}
	return k
}

// networkChecks reports the proxy and the extra certificates that are used, if any.
func networkChecks(c Client) []Check {
	var checks []Check
	if p := c.ProxyInUse(); p != "" {
		checks = append(checks, Check{Name: "proxy", OK: true, Detail: p})
	}
	switch used, err := c.ExtraCertificates(); {
	case err != nil:
		checks = append(checks, Check{Name: "certificates", Detail: err.Error(), Advice: "correct NODE_EXTRA_CA_CERTS, or unset it"})
	case used:
		checks = append(checks, Check{Name: "certificates", OK: true, Detail: "the system's and those of NODE_EXTRA_CA_CERTS"})
	}
	return checks
}

func listCheck(cfg provider.Config, list []provider.Listed, id string, err error) Check {
	k := Check{Name: "models"}
	switch {
	case err != nil:
		k.Detail = err.Error()
		k.Advice = advice(err)
	case cfg.Unlisted:
		k.OK, k.Detail = true, fmt.Sprintf("%s does not list those that you have", cfg.Address())
	case len(list) == 0:
		k.Detail = cfg.Address() + " lists no models"
		k.Advice = "load or pull a model on the server, then try again"
	default:
		k.OK = true
		k.Detail = fmt.Sprintf("%d listed at %s", len(list), cfg.Address())
		if id != "" && !lists(list, id) {
			k.Detail += fmt.Sprintf(", %s not among them", id)
			k.Advice = "check the model's ID: " + some(list)
		}
	}
	return k
}

func lists(list []provider.Listed, id string) bool {
	return slices.ContainsFunc(list, func(l provider.Listed) bool {
		return strings.TrimPrefix(l.ID, "models/") == strings.TrimPrefix(id, "models/")
	})
}

// some names a few models of a list.
func some(list []provider.Listed) string {
	var names []string
	for _, l := range list[:min(5, len(list))] {
		names = append(names, l.ID)
	}
	if len(list) > 5 {
		names = append(names, "…")
	}
	return strings.Join(names, ", ")
}

func checkStream(ctx context.Context, c Client, id string) Check {
	k := Check{Name: "stream"}
	ctx, cancel := context.WithTimeout(ctx, checkWait)
	defer cancel()
	began := time.Now()
	var first time.Duration
	resp, err := c.Stream(ctx, model.Request{
		Model:    id,
		Messages: []model.Message{{Role: model.RoleUser, Text: "Reply with the single word: ready"}},
	}, func(e model.Event) {
		switch e.(type) {
		case model.TextEvent, model.ReasoningEvent:
			if first == 0 {
				first = time.Since(began)
			}
		}
	})
	switch {
	case err != nil:
		k.Detail, k.Advice = err.Error(), advice(err)
	case resp.Text == "" && resp.Reasoning == "":
		k.Detail, k.Advice = id+" gave an empty answer", "try another model"
	default:
		k.OK = true
		k.Detail = fmt.Sprintf("%s answered; first token after %d ms", id, first.Milliseconds())
	}
	return k
}

// reportTool is the tool that the model is asked to call.
func reportTool() []model.Tool {
	return []model.Tool{{
		Name: "report", Description: "Reports a word.",
		Parameters: json.RawMessage(`{"type":"object","properties":{"word":{"type":"string"}},"required":["word"]}`),
	}}
}

func checkCall(ctx context.Context, c Client, id string) Check {
	k := Check{Name: "tool call"}
	ctx, cancel := context.WithTimeout(ctx, checkWait)
	defer cancel()
	resp, err := c.Stream(ctx, model.Request{
		Model:    id,
		Messages: []model.Message{{Role: model.RoleUser, Text: "Call the tool report with the word ready."}},
		Tools:    reportTool(),
	}, func(model.Event) {})
	switch {
	case err != nil:
		k.Detail, k.Advice = err.Error(), advice(err)
	case len(resp.Calls) == 0:
		k.Detail, k.Advice = id+" answered without calling the tool", "choose a model that can call tools; jcode works by them"
	case resp.Calls[0].Name != "report" || !json.Valid([]byte(resp.Calls[0].Arguments)):
		k.Detail = fmt.Sprintf("%s called %q with %.80q", id, resp.Calls[0].Name, resp.Calls[0].Arguments)
		k.Advice = "choose a model that calls tools more reliably"
	default:
		k.OK, k.Detail = true, id+" calls tools"
	}
	return k
}

// advice says what to do about a failed request.
func advice(err error) string {
	var e *model.Error
	if !errors.As(err, &e) {
		return "try again"
	}
	switch e.Class {
	case model.ClassAuth:
		return "set the right key"
	case model.ClassCredit:
		return "add credit to the account, or choose another provider"
	case model.ClassNetwork:
		return "start the server, or check the base URL and the network"
	case model.ClassServer:
		return "the provider has trouble: try again later, or choose another model"
	case model.ClassRequest:
		return "check the model's ID and the base URL"
	case model.ClassOverflow:
		return "the model's window is too small for a request with tools: choose another, or raise the server's context length"
	case model.ClassTool, model.ClassReplay:
	}
	return "choose another model"
}
