package manual

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"jcode/cli/console"
	"jcode/docs"
	"jcode/internal/cells"
	"jcode/internal/launch"
	"jcode/internal/slicex"
	"jcode/tools/command"
	"jcode/tui/markdown"
)

// Cmd is `jcode help`: it shows the manual.
type Cmd struct {
	Topic []string `arg:"" optional:"" help:"A page, a heading, or words to look for."`
}

// Setup is what `jcode help` is given.
type Setup struct {
	console.Streams
	Dir string // the working folder: no pager is taken from it
}

// Means implements commandline.Particular: several words that name no place of the manual are a prompt.
func (c *Cmd) Means(words []string) bool {
	if len(words) == 1 {
		return true
	}
	pages, err := Read(docs.Files)
	if err != nil {
		return false
	}
	_, ok := pages.Named(strings.Join(words, " "))
	return ok
}

// Run shows a place of the manual in a pager, or prints it where nobody looks at a terminal.
func (c *Cmd) Run(ctx context.Context, std Setup) error {
	pages, err := Read(docs.Files)
	if err != nil {
		return err
	}
	text, err := topic(pages, strings.Join(c.Topic, " "), "jcode help")
	if err != nil {
		return console.Usage("%w", err)
	}
	if !std.OutIsTerminal {
		_, err := io.WriteString(std.Out, text)
		return err
	}
	if shown, err := paged(ctx, std, text); shown || err != nil {
		return err
	}
	_, err = io.WriteString(std.Out, laid(text, std.Columns(), markdown.Styles{}))
	return err
}

// topic returns what the manual has on a topic, in Markdown: the contents without one, a page or a section that has
// this name, or the places that fit its words. again is the command that shows a place.
func topic(pages Manual, name, again string) (string, error) {
	if name == "" || name == "manual" || name == "contents" {
		name = Contents
	}
	if text, ok := pages.Named(name); ok {
		return text, nil
	}
	found := pages.Search(name, 8)
	if len(found) == 0 {
		return "", fmt.Errorf("the manual has nothing on %q; its pages: %s", name, strings.Join(pages.Names(), ", "))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# The manual on “%s”\n\n", name)
	for _, f := range found {
		place := f.Heading
		if place == "" {
			place = f.Page
		}
		fmt.Fprintf(&b, "- **%s**, in `%s %s`\n\n  %s\n\n", place, again, f.Page, f.Excerpt)
	}
	return b.String(), nil
}

// laid returns Markdown as lines for a width in cells.
func laid(text string, width int, styles markdown.Styles) string {
	const prose = 90 // longer lines are hard to read
	return strings.Join(markdown.Render(text, markdown.Options{Width: width, Prose: prose, Styles: styles}), "\n") + "\n"
}

// paged shows Markdown in the pager of the user, $PAGER or less. shown is false where there is none.
func paged(ctx context.Context, std Setup, text string) (shown bool, err error) {
	words := strings.Fields(std.Getenv("PAGER"))
	if len(words) == 0 {
		words = []string{"less"}
	}
	out, isFile := console.Behind(std.Out).(*os.File)
	if !isFile || words[0] == "cat" {
		return false, nil
	}
	programs := launch.Programs{Roots: func() []string { return []string{std.Dir} }}
	cmd, err := programs.Own(ctx, words[0], words[1:]...)
	if err != nil {
		return false, nil //nolint:nilerr // without a pager the text is printed
	}
	const bold, italic = cells.Style("1"), cells.Style("3")
	cmd.Stdin = strings.NewReader(laid(text, std.Columns(), markdown.Styles{
		Strong: bold, Heading: [6]cells.Style{bold, bold, bold, bold, bold, bold}, TableHead: bold, Emphasis: italic,
	}))
	cmd.Stdout, cmd.Stderr = out, console.Behind(std.Err)
	if std.Getenv("LESS") == "" {
		cmd.Env = append(os.Environ(), "LESS=FRX") // colours; and nothing to leave where the text fits
	}
	if err := cmd.Run(); err != nil && ctx.Err() == nil {
		return false, nil //nolint:nilerr // it could not show the text: print it
	}
	return true, nil
}

// Complete proposes pages.
func Complete(_ context.Context, args string) []string {
	pages, err := Read(docs.Files)
	if err != nil {
		return nil // its files are part of the program
	}
	return slicex.WithPrefix(pages.Names(), args)
}

// Show is /manual [topic].
func Show(_ context.Context, args string) (command.Outcome, error) {
	pages, err := Read(docs.Files)
	if err != nil {
		return command.Outcome{}, err
	}
	text, err := topic(pages, strings.TrimSpace(args), "/manual")
	if err != nil {
		return command.Outcome{}, err
	}
	lay := func(width int) string { return strings.TrimRight(laid(text, width, markdown.Styles{}), "\n") }
	const noticeCells = 76 // where the width is unknown
	return command.Outcome{Page: "Manual", Notice: lay(noticeCells), Wide: lay}, nil
}
