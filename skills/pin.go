package skills

import (
	"context"
	"fmt"
	"slices"

	"jcode/internal/text"
	"jcode/tools"
)

// Pin is what a person approves once: the rights that one version of a file asks for.
type Pin struct {
	// Kind is "skill" or "command".
	Kind string
	Name string
	// File is the file that asks.
	File string
	// Project says that the file belongs to the project, not to the person.
	Project bool
	// Hash is the SHA-256 of the file; any edit makes another pin.
	Hash string
	// Rules would run without asking, as permission rules.
	Rules []string
	// Shell are the command lines that would run whenever the command is used.
	Shell []string
	// Replaces is the person's file, or the builtin, whose name it would take.
	Replaces string
}

// Asks reports whether there is anything to approve.
func (p Pin) Asks() bool { return len(p.Rules)+len(p.Shell) > 0 || p.Replaces != "" }

// Item is the pin as a thing that needs trust.
func (p Pin) Item() tools.TrustItem {
	item := tools.TrustItem{
		Kind: tools.TrustSkill, Name: p.Name, Hash: p.Hash, File: p.File, Runs: append(slices.Clone(p.Rules), p.Shell...), Personal: !p.Project,
	}
	if p.Kind == "command" {
		item.Kind = tools.TrustCommand
	}
	if p.Replaces != "" {
		item.Runs = append(item.Runs, "replaces "+p.Replaces)
	}
	return item
}

// guest returns the Guest function for a command that a file defines, nil for the person's own.
func guest(trust tools.Trust, pin Pin) func() bool {
	if !pin.Project {
		return nil
	}
	return func() bool {
		ok, err := mayReplace(trust, pin)
		return !ok || err != nil // the list says what can't be read
	}
}

// mayReplace reports whether a file of the project may take a name that the person or the program
// uses too: only if that version was approved. An error means no.
func mayReplace(trust tools.Trust, pin Pin) (bool, error) {
	if trust == nil {
		return false, nil
	}
	ok, err := trust.Trusted(context.Background(), pin.Item())
	return ok && err == nil, err
}

// waits says why a file of the project does not take a name: it is not trusted, or the trust
// could not be read.
func waits(file, mine string, err error) Diagnostic {
	d := Diagnostic{
		File: file, Level: Warning, Text: "has the name of " + mine + ", which it does not replace before you trust it", Cure: "rename it, or trust this folder",
	}
	if err != nil {
		d.Text += "; whether you do can't be read: " + err.Error()
	}
	return d
}

// Grants applies rules for the rest of one turn of one session.
type Grants interface {
	// Allow adds allow rules that end with the turn. source names who asked for them.
	Allow(session string, turn int, source string, rules []string)
}

// approved reports whether a pin is approved, and asks through asker if it is not. If nobody can
// be asked, it is not. Only an answer for the project is stored.
func approved(ctx context.Context, trust tools.Trust, asker tools.Asker, pin Pin) (bool, error) {
	if len(pin.Rules)+len(pin.Shell) == 0 {
		return true, nil
	}
	if trust == nil {
		return false, nil
	}
	ok, err := trust.Trusted(ctx, pin.Item())
	if ok || err != nil {
		return ok, err
	}
	if asker == nil {
		return false, nil
	}
	answer, err := asker.Ask(ctx, pin.question())
	if err != nil {
		return false, nil // nobody answered
	}
	switch answer.Scope {
	case tools.AnswerProject:
		return true, trust.Accept(ctx, []tools.TrustItem{pin.Item()}, true)
	case tools.AnswerOnce, tools.AnswerSession:
		return true, nil
	default:
		return false, nil
	}
}

// question shows everything that would be approved.
func (p Pin) question() tools.Question {
	q := tools.Question{
		Tool:    "skill",
		Title:   fmt.Sprintf("The %s %q asks for rights", p.Kind, p.Name),
		Details: []string{"file: " + text.Visible(p.File)},
	}
	if len(p.Rules) > 0 {
		q.Details = append(q.Details, "would run without asking while it is in use:")
		for _, r := range p.Rules {
			q.Details = append(q.Details, "  "+text.Visible(r))
		}
	}
	if len(p.Shell) > 0 {
		q.Details = append(q.Details, "would run each time the command is used:")
		for _, l := range p.Shell {
			q.Details = append(q.Details, "  "+text.Visible(l))
		}
	}
	q.Details = append(q.Details, "any edit of the file asks again")
	q.Options = []tools.AnswerOption{
		{Scope: tools.AnswerOnce, Label: "yes, this time"},
		{Scope: tools.AnswerProject, Label: "yes, for this version of the file", Rules: slices.Clone(p.Rules)},
		{Scope: tools.AnswerNo, Label: "no"},
	}
	return q
}

// Pin returns what a person is asked to approve for a skill with allowed-tools.
func (sk Skill) Pin() Pin {
	return Pin{Kind: "skill", Name: sk.Name, File: sk.File, Project: sk.Source.Project, Hash: sk.Hash, Rules: sk.Rules}
}
