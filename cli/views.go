package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"jcode/agent"
	"jcode/agent/model/catalogue"
	"jcode/agent/model/dial"
	"jcode/agent/model/provider"
	"jcode/internal/paths"
	"jcode/internal/search"
	"jcode/tools"
	"jcode/tools/permission"
	"jcode/tui"
)

// maxFileNames bounds the list of files that @ completes.
const maxFileNames = 200_000

// chatViews provides what the screens of a chat show.
type chatViews struct{ *app }

// modelRows lists the models of the endpoint in use, and what configuration names.
func (a chatViews) modelRows(ctx context.Context) ([]tui.Row, error) {
	current := ""
	if conv := a.board.open(); conv != nil {
		current = conv.State().Model
	}
	var rows []tui.Row
	seen := map[string]bool{}
	add := func(id, info string) {
		if !seen[id] {
			seen[id] = true
			rows = append(rows, tui.Row{ID: id, Name: id, Info: info, Current: id == current})
		}
	}
	settings := a.models.settings
	settings.Model = current
	target, err := provider.Resolve(settings)
	if err == nil && target.Replay == "" {
		var list []provider.Listed
		if list, err = listModels(ctx, target.Provider); err == nil {
			for _, l := range list {
				name := l.ID
				if target.Provider.Name != "" {
					name = target.Provider.Name + "/" + l.ID
				}
				add(name, modelInfo(l, a.models.own))
			}
		}
	}
	for _, m := range a.config.Models {
		add(m.ID, "from configuration")
	}
	if rows == nil && err != nil {
		return nil, fmt.Errorf("the list of models could not be read (%w); /model NAME takes any", err)
	}
	return rows, nil
}

func listModels(ctx context.Context, p provider.Config) ([]provider.Listed, error) {
	client, err := dial.Open(p)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	return client.ListModels(ctx)
}

func modelInfo(l provider.Listed, own map[string]catalogue.Info) string {
	info, ok := catalogue.Lookup(l.ID, own)
	window := info.Window
	if l.Window > 0 {
		window = l.Window
	}
	var parts []string
	if window > 0 {
		parts = append(parts, fmt.Sprintf("%dk window", window/1000))
	}
	if ok && info.Output > 0 {
		parts = append(parts, fmt.Sprintf("$%g in, $%g out per million", info.Input, info.Output))
	}
	return strings.Join(parts, ", ")
}

// fileNames lists the files below a folder for @, ignored ones left out.
func fileNames(dir string) func(context.Context) ([]string, error) {
	return func(ctx context.Context) ([]string, error) {
		names, err := search.Names(ctx, dir, maxFileNames)
		for i, name := range names {
			names[i] = paths.Escape(name)
		}
		return names, err
	}
}

// shellLine runs a `!` line as the person: no question, for they typed it.
func (a chatViews) shellLine(ctx context.Context, line string, out func(string)) error {
	raw, err := json.Marshal(map[string]string{"cmd": line})
	if err != nil {
		return err
	}
	result := a.dispatcherFor(personGate{}).Dispatch(ctx, tools.Call{
		ID: "person", Name: "exec", Arguments: raw, Caller: tools.Caller{Origin: tools.OriginPerson},
		Progress: func(p tools.Progress) {
			if p.Output != "" {
				out(p.Output)
			}
		},
	})
	if result.Result.Failed {
		return errors.New(result.Result.Text)
	}
	if code := result.Result.Display.ExitCode; code != nil && *code != 0 {
		return fmt.Errorf("exit %d", *code)
	}
	return nil
}

// personGate allows what the person typed themselves.
type personGate struct{}

// Check allows it.
func (personGate) Check(context.Context, tools.GateRequest) tools.Decision {
	return tools.Decision{Allow: true, By: tools.ByUser, Silent: true}
}

// Offered implements tools.Gate; nothing asks it.
func (personGate) Offered(tools.Spec, tools.Mode) (bool, string) { return true, "" }

// dispatcherFor returns a dispatcher over the same registry with another gate.
func (a chatViews) dispatcherFor(g tools.Gate) *tools.Dispatcher {
	return &tools.Dispatcher{Registry: a.registry, Gate: g, Spill: a.spill}
}

// contextUse measures the open conversation's next request.
func (a chatViews) contextUse(ctx context.Context) (agent.ContextUse, error) {
	conv := a.board.open()
	if conv == nil {
		return agent.ContextUse{}, errNoMessages
	}
	return conv.ContextUse(ctx)
}

// changedFiles returns the diffs that the open session's tools made, file by file.
func (a chatViews) changedFiles(ctx context.Context) ([]tui.FileChange, error) {
	id := a.board.session()
	if id == "" {
		return nil, nil
	}
	rows, err := a.store.History().All(ctx, id)
	if err != nil {
		return nil, err
	}
	var out []tui.FileChange
	at := map[string]int{}
	for _, row := range rows {
		for _, call := range row.Calls {
			var d tools.Display
			if len(call.Display) == 0 || json.Unmarshal(call.Display, &d) != nil || d.Diff == "" {
				continue
			}
			i, ok := at[d.Path]
			if !ok {
				i = len(out)
				at[d.Path] = i
				out = append(out, tui.FileChange{Path: d.Path})
			}
			out[i].Diff += d.Diff
			out[i].Added += d.Added
			out[i].Removed += d.Removed
		}
	}
	return out, nil
}

func ruleTexts(rules []permission.Rule) []string {
	out := make([]string, len(rules))
	for i, r := range rules {
		out[i] = r.String()
	}
	return out
}
