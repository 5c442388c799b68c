package switching

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"jcode/cli/console"
	"jcode/internal/text"
)

// Cmd is jcode import. It takes no further words, so that a prompt that begins with import stays one.
type Cmd struct {
	List bool     `help:"Print what there is, and take nothing over."`
	JSON bool     `name:"json" help:"Print what there is as JSON, and take nothing over."`
	Yes  []string `help:"Take this over, by the name in the list; repeatable." placeholder:"ITEM" sep:"none"`
	All  bool     `help:"Take everything over that can be."`
}

// Setup is what `jcode import` is given.
type Setup struct {
	console.Streams
	// Open says where to look, and what is done with notes. The caller calls done afterwards.
	Open func(ctx context.Context) (opt Options, done func(), err error)
}

// Run offers what other agents have set up.
func (c *Cmd) Run(ctx context.Context, std Setup) error {
	opt, done, err := std.Open(ctx)
	if err != nil {
		return err
	}
	defer done()
	items := Find(opt)
	switch {
	case c.JSON:
		if items == nil {
			items = []Item{}
		}
		return console.PrintJSON(std.Out, map[string]any{"items": items})
	case c.All:
		return takeItems(ctx, std.Out, slices.DeleteFunc(items, func(i Item) bool { return !i.Possible() }))
	case len(c.Yes) > 0:
		chosen, err := namedItems(items, c.Yes)
		if err != nil {
			return err
		}
		return takeItems(ctx, std.Out, chosen)
	}
	possible, left := splitItems(items)
	if c.List || !std.InIsTerminal || !std.OutIsTerminal || len(possible) == 0 {
		printItems(std.Out, possible, left)
		if len(possible) > 0 {
			fmt.Fprintln(std.Out, "\nNothing was changed: jcode import --yes ITEM takes one over, --all takes all.")
		}
		return nil
	}
	chosen := chooseItems(std.Streams, possible, left)
	return takeItems(ctx, std.Out, chosen)
}

// splitItems tells apart what can be taken over and what can't.
func splitItems(items []Item) (possible, left []Item) {
	for _, i := range items {
		if i.Possible() {
			possible = append(possible, i)
		} else {
			left = append(left, i)
		}
	}
	return possible, left
}

func namedItems(items []Item, names []string) (out []Item, err error) {
	for _, name := range names {
		at := slices.IndexFunc(items, func(i Item) bool { return i.ID == name })
		switch {
		case at < 0:
			return nil, console.Usage("there is no item %q: jcode import --list shows them", name)
		case !items[at].Possible():
			return nil, console.Usage("%s can't be taken over: %s", name, items[at].Why)
		}
		out = append(out, items[at])
	}
	return out, nil
}

func printItems(w io.Writer, possible, left []Item) {
	if len(possible) == 0 {
		fmt.Fprintln(w, "There is nothing new to take over from other agents.")
	}
	for _, i := range possible {
		fmt.Fprintf(w, "%s\n    %s\n    %s\n", text.Visible(i.ID), text.Visible(i.Does), text.Visible(i.From))
	}
	printLeft(w, left)
}

func printLeft(w io.Writer, left []Item) {
	if len(left) == 0 {
		return
	}
	fmt.Fprintln(w, "\nNot taken over:")
	for _, i := range left {
		fmt.Fprintf(w, "%s\n    %s\n    %s\n", text.Visible(i.ID), text.Visible(i.Why), text.Visible(i.From))
	}
}

// chooseItems lets the person mark items until an empty line ends the choice. Nothing is marked at first.
func chooseItems(std console.Streams, items, left []Item) (chosen []Item) {
	marked := make([]bool, len(items))
	in := bufio.NewReader(std.In)
	printLeft(std.Out, left)
	for {
		fmt.Fprintln(std.Out)
		for n, i := range items {
			box := "[ ]"
			if marked[n] {
				box = "[x]"
			}
			fmt.Fprintf(std.Out, "%2d %s %s\n       %s  (%s)\n", n+1, box, text.Visible(i.Does), text.Visible(i.ID), text.Visible(i.From))
		}
		fmt.Fprint(std.Out, "\nMark numbers (1 3-5), all or none; an empty line takes over what is marked, q nothing: ")
		line, err := in.ReadString('\n')
		switch word := strings.TrimSpace(line); {
		case word == "q" || err != nil && word == "":
			return nil
		case word == "":
			for n, i := range items {
				if marked[n] {
					chosen = append(chosen, i)
				}
			}
			return chosen
		default:
			if err := mark(marked, word); err != nil {
				fmt.Fprintln(std.Out, err)
			}
		}
	}
}

// mark turns the marks of numbers round.
func mark(marked []bool, line string) error {
	for _, word := range strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == ',' }) {
		if word == "all" || word == "none" {
			for n := range marked {
				marked[n] = word == "all"
			}
			continue
		}
		low, high, span := strings.Cut(word, "-")
		from, err := strconv.Atoi(low)
		to := from
		if span && err == nil {
			to, err = strconv.Atoi(high)
		}
		if err != nil || from < 1 || to < from || to > len(marked) {
			return fmt.Errorf("%q is no number from 1 to %d", word, len(marked))
		}
		for n := from; n <= to; n++ {
			marked[n-1] = !marked[n-1]
		}
	}
	return nil
}

// takeItems takes items over and says what became of each.
func takeItems(ctx context.Context, out io.Writer, items []Item) error {
	if len(items) == 0 {
		fmt.Fprintln(out, "Nothing was changed.")
		return nil
	}
	failed := 0
	for _, i := range items {
		if err := i.Take(ctx); err != nil {
			if errors.Is(err, context.Canceled) {
				return err
			}
			failed++
			fmt.Fprintf(out, "left out  %s: %s\n", text.Visible(i.ID), text.Visible(err.Error()))
			continue
		}
		fmt.Fprintf(out, "done      %s: %s\n", text.Visible(i.ID), text.Visible(i.Does))
	}
	if failed == len(items) {
		return console.Usage("nothing was taken over")
	}
	return nil
}
