package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"text/tabwriter"

	"jcode/agent"
	"jcode/agent/model"
	"jcode/cli/console"
	"jcode/internal/text"
	"jcode/tools"
)

// toolsCmd lists the tools: which exist, where they come from, and why one is off.
type toolsCmd struct {
	JSON bool `name:"json" help:"Print the definitions as they are sent, with their size."`
}

// toolLine is one tool of `jcode tools --json`.
type toolLine struct {
	Name        string          `json:"name"`
	Wire        string          `json:"wire"`
	Owner       string          `json:"owner"`
	Offered     bool            `json:"offered"`
	Why         string          `json:"why,omitempty"`
	Tokens      int             `json:"tokens"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

// Run lists the tools that this folder, the flags and the configuration result in.
func (c *toolsCmd) Run(ctx context.Context, f *flags, std Streams) error {
	a, err := newApp(ctx, f, std)
	if err != nil {
		return err
	}
	defer a.close()
	a.list.Look()
	var lines []toolLine
	total := model.EstimateText(a.system("", agent.Role{}, nil))
	system := total
	snap := a.registry.Snapshot(nil)
	var order tools.Order
	for _, e := range order.Arrange(snap.All()) {
		def := model.Tool{Name: e.Spec.Wire, Description: e.Spec.Description, Parameters: e.Spec.Parameters}
		line := toolLine{
			Name: e.Spec.Name, Wire: e.Spec.Wire, Owner: e.Owner, Why: snap.Reason(e, a.gate, a.mode),
			Tokens: model.EstimateTool(&def), Description: e.Spec.Description, Parameters: e.Spec.Parameters,
		}
		line.Offered = line.Why == ""
		if line.Offered {
			total += line.Tokens
		}
		lines = append(lines, line)
	}
	if c.JSON {
		return console.PrintJSON(std.Out, map[string]any{"tools": lines, "system_prompt_tokens": system, "total_tokens": total})
	}
	w := tabwriter.NewWriter(std.Out, 0, 0, 2, ' ', 0)
	for _, l := range lines {
		fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%s\n", l.Name, l.Owner, l.Tokens, cmp.Or(l.Why, "on"), text.Truncate(text.Headline(l.Description), 60, "…"))
	}
	fmt.Fprintf(w, "\t\t%d\ttokens of the offered tools and the system prompt, estimated\n", total)
	return w.Flush()
}
