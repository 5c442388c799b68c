package commandline

import (
	"fmt"
	"io"
	"strings"

	"jcode/internal/text"
)

const helpWidth = 80

// PrintHelp prints what a command takes. last is its last line.
func (c *Command) PrintHelp(w io.Writer, last string) error {
	var b strings.Builder
	b.WriteString("Usage: " + c.Path())
	if c.visible() != nil {
		b.WriteString(" <command>")
	}
	open := ""
	for _, a := range c.Args {
		if a.Optional { // what follows it is, too
			b.WriteString(" [" + strings.Trim(a.Summary(), "[]"))
			open += "]"
			continue
		}
		b.WriteString(" " + a.Summary())
	}
	b.WriteString(open + " [flags]\n\n" + strings.Join(wrap(c.Help, helpWidth), "\n") + "\n")
	if c.Detail != "" {
		b.WriteString("\n")
		for line := range strings.Lines(c.Detail) {
			if line = strings.TrimRight(line, "\n"); !strings.HasPrefix(line, " ") { // an indented one is code
				line = strings.Join(wrap(line, helpWidth), "\n")
			}
			b.WriteString(line + "\n")
		}
	}
	rows := make([][2]string, 0, len(c.Args))
	for _, a := range c.Args {
		rows = append(rows, [2]string{a.Summary(), a.Help})
	}
	table(&b, "Arguments", rows)
	rows = nil
	for _, child := range c.visible() {
		rows = append(rows, [2]string{c.Name + " " + child.Name, child.Help})
	}
	table(&b, "Commands", rows)
	rows = [][2]string{{"-h, --help", "Show context-sensitive help."}}
	for i, f := range c.Flags {
		if f.Hidden {
			continue
		}
		if i == 0 {
			rows = append(rows, [2]string{})
		}
		rows = append(rows, [2]string{f.usage(), f.Help})
	}
	table(&b, "Flags", rows)
	_, err := fmt.Fprintf(w, "%s\n%s\n", b.String(), last)
	return err
}

// visible returns the commands below that help lists.
func (c *Command) visible() (list []*Command) {
	for _, child := range c.Children {
		if !child.Hidden {
			list = append(list, child)
		}
	}
	return list
}

// usage returns a flag as help lists it.
func (f *Flag) usage() string {
	s := "    --" + f.Name
	if f.Short != 0 {
		s = "-" + string(f.Short) + ", --" + f.Name
	}
	if !f.IsBool() {
		s += "=" + f.Metavar()
	}
	return s
}

// table writes rows of a name and a text, which is broken at words.
func table(b *strings.Builder, title string, rows [][2]string) {
	if len(rows) == 0 {
		return
	}
	b.WriteString("\n" + title + ":\n")
	wide := 0
	for _, r := range rows {
		wide = max(wide, text.Width(r[0]))
	}
	for _, r := range rows {
		if r[0] == "" {
			b.WriteString("\n")
			continue
		}
		pad := strings.Repeat(" ", wide-text.Width(r[0])+4)
		for i, line := range wrap(r[1], helpWidth-wide-6) {
			if i > 0 {
				pad = strings.Repeat(" ", wide+6)
				b.WriteString(pad + line + "\n")
				continue
			}
			b.WriteString("  " + r[0] + pad + line + "\n")
		}
	}
}

// wrap breaks a text at words; a longer word stands alone.
func wrap(s string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(s) {
		if line != "" && text.Width(line)+1+text.Width(word) > width {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}
