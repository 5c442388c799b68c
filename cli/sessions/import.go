package sessionscli

import (
	"context"
	"fmt"
	"slices"

	"jcode/cli/console"
	"jcode/internal/foreign"
	"jcode/internal/text"
)

type importCmd struct {
	From []string `arg:"" optional:"" help:"A file or folder of theirs, or @claude, @codex, @gemini, @pi, @opencode or @crush; without one, all that are found."`
}

// Run imports the histories of other agents.
func (c *importCmd) Run(ctx context.Context, std Setup) error {
	a, err := std.Open(ctx)
	if err != nil {
		return err
	}
	defer a.Close()
	from := c.From
	if from == nil {
		for _, name := range foreign.Agents() {
			from = append(from, "@"+name)
		}
	}
	im := a.Importer
	im.seen = map[string]bool{}
	var total imported
	for _, name := range from {
		list, agent, err := im.files(name)
		if err != nil {
			return console.Usage("%w", err)
		}
		// The last one first: a database comes before the files that it was made of.
		for _, file := range slices.Backward(list) {
			if err := im.all(ctx, file, agent, &total); err != nil {
				return err
			}
		}
	}
	fmt.Fprintf(std.Out, "%s new, %s continued, %d as before\n", text.Count(total.fresh, "session"), text.Count(total.longer, "session"), total.same)
	if total.kept > 0 {
		fmt.Fprintf(std.Out, "%s went on here, or were rewound there, and stay as they are\n", text.Count(total.kept, "session"))
	}
	return nil
}

// imported counts what became of histories.
type imported struct{ fresh, longer, same, kept int }

func (i *imported) add(one imported) {
	i.fresh, i.longer, i.same, i.kept = i.fresh+one.fresh, i.longer+one.longer, i.same+one.same, i.kept+one.kept
}
