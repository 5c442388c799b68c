package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Verb is a word that a slash command understands, with what follows it: connect NAME of /mcp. Completion, help and
// errors are made from it.
type Verb struct {
	Name string
	// Hint shows the form of what follows: "NAME", "[NAME]", "NAME [FILE]". Without one nothing may follow.
	Hint string
	// Help says in one line what it does.
	Help string
	// Ask says what to write where something must follow and does not: "name a server".
	Ask string
	// Shows verbs only ask: what they return is shown until the person goes on, and is no part of the conversation.
	Shows bool
	// Run does it with what follows, and may return a notice.
	Run func(ctx context.Context, args string) (notice string, err error)
	// Edit, in place of Run, finds the row that is opened in the person's editor, by the panel's first action that
	// edits.
	Edit func(ctx context.Context, args string) (Row, error)
	// Complete proposes what may follow, from what was typed of it; may be nil.
	Complete func(ctx context.Context, args string) []string
}

// Form is the verb as it is typed: "export NAME [FILE]".
func (v *Verb) Form() string { return strings.TrimSpace(v.Name + " " + v.Hint) }

// check refuses what can't follow the verb of a command.
func (v *Verb) check(of, args string) error {
	switch {
	case args == "" && v.Hint != "" && !strings.HasPrefix(v.Hint, "["):
		return fmt.Errorf("%s: /%s %s; /%s alone shows the list", cmp.Or(v.Ask, v.Hint+" is missing"), of, v.Form(), of)
	case args != "" && v.Hint == "":
		return fmt.Errorf("/%s %s accepts no further arguments", of, v.Name)
	}
	return nil
}

// Verbs is the table of a command's verbs.
type Verbs []Verb

// Find returns the verb that words begin with, and what follows it.
func (l Verbs) Find(words string) (v *Verb, args string) {
	first, rest, _ := strings.Cut(strings.TrimSpace(words), " ")
	for i := range l {
		if l[i].Name == first {
			return &l[i], strings.TrimSpace(rest)
		}
	}
	return nil, ""
}

// Hint names the verbs: "[log|reload]".
func (l Verbs) Hint() string {
	names := make([]string, len(l))
	for i := range l {
		names[i] = l[i].Name
	}
	if len(names) == 0 {
		return ""
	}
	return "[" + strings.Join(names, "|") + "]"
}

// Lines says of each verb of a command what it does.
func (l Verbs) Lines(of string) string {
	width := 0
	for i := range l {
		width = max(width, utf8.RuneCountInString(l[i].Form()))
	}
	var b strings.Builder
	for i := range l {
		fmt.Fprintf(&b, "/%s %-*s  %s\n", of, width, l[i].Form(), l[i].Help)
	}
	return strings.TrimSpace(b.String())
}

// Unknown is the error for words that begin with none of the verbs of a command.
func (l Verbs) Unknown(of, words string) error {
	forms := make([]string, len(l))
	for i := range l {
		forms[i] = l[i].Form()
	}
	return fmt.Errorf("/%s knows %s; not %q", of, strings.Join(forms, ", "), words)
}

// Choice is a completion, and what is said beside it.
type Choice struct{ Value, Info string }

// Choices completes what was typed after the command. others, which may be nil, proposes what is no verb.
func (l Verbs) Choices(ctx context.Context, typed string, others func(ctx context.Context, args string) []string) (out []Choice) {
	first, rest, named := strings.Cut(typed, " ")
	for i := range l {
		v := &l[i]
		switch {
		case !named && strings.HasPrefix(v.Name, first):
			out = append(out, Choice{v.Name, strings.TrimSpace(v.Hint + "  " + v.Help)})
		case named && v.Name == first && v.Complete != nil:
			rest = strings.TrimLeft(rest, " ")
			for _, value := range v.Complete(ctx, rest) {
				if strings.HasPrefix(value, rest) {
					out = append(out, Choice{Value: v.Name + " " + value})
				}
			}
		}
	}
	if others == nil || named && len(out) > 0 {
		return out
	}
	for _, value := range others(ctx, typed) {
		out = append(out, Choice{Value: value})
	}
	return out
}

// ErrSearch says that words that are no verb search the list.
var ErrSearch = errors.New("the words search the list")

// Answer is what became of the words after a panel's command.
type Answer struct {
	// Notice is what they did. Shows says that they only asked.
	Notice string
	Shows  bool
	// Edit is the row to open in the person's editor.
	Edit *Row
	// Search says that the words are no verb: they search the list.
	Search bool
}

// Do runs the words after the panel's command. Words that are no verb search the list; if that has no such row
// either, the error names the verbs.
func (p *Panel) Do(ctx context.Context, words string) (Answer, error) {
	v, args := p.Verbs.Find(words)
	if v == nil {
		v, args = &p.Other, strings.TrimSpace(words)
	} else if err := v.check(p.Name, args); err != nil {
		return Answer{}, err
	}
	switch {
	case v.Edit != nil:
		row, err := v.Edit(ctx, args)
		return Answer{Edit: &row}, err
	case v.Run != nil:
		notice, err := v.Run(ctx, args)
		if errors.Is(err, ErrSearch) {
			break
		}
		return Answer{Notice: notice, Shows: v.Shows}, err
	case len(p.Verbs) == 0:
		return Answer{Search: true}, nil
	}
	rows, err := p.Rows(ctx)
	if err != nil {
		return Answer{}, err
	}
	for i := range rows {
		if rows[i].Contains(strings.ToLower(args)) {
			return Answer{Search: true}, nil
		}
	}
	return Answer{}, p.Verbs.Unknown(p.Name, args)
}

// All returns the verbs, and the form of other words.
func (p *Panel) All() Verbs {
	if p.Other.Run == nil {
		return p.Verbs
	}
	return append(slices.Clip(p.Verbs), p.Other)
}

// Choices completes what was typed after the panel's command.
func (p *Panel) Choices(ctx context.Context, typed string) []Choice {
	return p.Verbs.Choices(ctx, typed, p.Other.Complete)
}

// Choices completes what was typed after the command.
func (c *Command) Choices(ctx context.Context, typed string) []Choice {
	return c.Verbs.Choices(ctx, typed, c.Complete)
}
