package skillscli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"jcode/cli/config"
	"jcode/internal/slicex"
	"jcode/skills"
	"jcode/tools/command"
)

// actions are the actions of a person on skills: the panel and the words of /skills.
type actions struct {
	skills   *skills.Registry
	places   skills.Places
	settings string // the person's configuration file
}

// panel lists skills with what is wrong with them.
func (a actions) panel() command.Panel {
	return command.Panel{
		Name: "skills", Help: "skills: state and faults, on and off, edit", Title: "Skills",
		Empty: "No skills. A skill is a folder with a SKILL.md, in .jcode/skills or " + filepath.Join(a.places.Config, "skills") + "; /skills new NAME makes one.",
		Rows: func(context.Context) ([]command.Row, error) {
			a.skills.Refresh()
			return slicex.Map(a.skills.Entries(), skillRow), nil
		},
		Actions: []command.Action{
			{Label: "enable or disable", Run: a.switchSkill},
			{Key: "ctrl+e", Label: "edit", Edit: skillToEdit, Edited: a.skillEdited},
		},
		Verbs: Table().Verbs(nil, command.Deeds{"new": {Run: a.create}}),
	}
}

func skillRow(e skills.Entry) command.Row {
	row := command.Row{ID: e.File, Name: e.Name, Info: e.Description, State: string(e.State), Bad: len(e.Diagnostics) > 0, Search: e.Source.Label}
	row.Keys = []string{}
	if e.State == skills.Active || e.State == skills.Disabled {
		row.Keys = append(row.Keys, "enable or disable")
	}
	if filepath.IsAbs(e.File) { // else it is built in
		row.Keys = append(row.Keys, "edit")
	}
	detail := []string{e.Description, e.Source.Label + ": " + e.File}
	if len(e.Rules) > 0 {
		detail = append(detail, "allowed-tools: "+strings.Join(e.Rules, ", "))
	}
	for _, d := range e.Diagnostics {
		detail = append(detail, d.String())
	}
	row.Detail = strings.Join(detail, "\n")
	return row
}

// switchSkill turns a skill on or off in the person's settings.
func (a actions) switchSkill(_ context.Context, row command.Row) (string, error) {
	off := row.State == string(skills.Disabled)
	if !off && row.State != string(skills.Active) {
		return "", fmt.Errorf("%s is %s: there is nothing to switch", row.Name, row.State)
	}
	if err := config.Include(a.settings, "skills.disabled", row.Name, !off); err != nil {
		return "", err
	}
	a.skills.SetEnabled(row.Name, off)
	if off {
		return row.Name + " is on", nil
	}
	return row.Name + " is off", nil
}

// skillToEdit returns a row's SKILL.md.
func skillToEdit(row command.Row) (string, error) {
	if !filepath.IsAbs(row.ID) {
		return "", errors.New("a builtin skill cannot be edited: a skill of the same name in .jcode/skills takes its place")
	}
	return row.ID, nil
}

// skillEdited reads a SKILL.md again and reports what is wrong with it.
func (a actions) skillEdited(_ context.Context, row command.Row, file string) (string, error) {
	a.skills.Reload()
	for _, e := range a.skills.Entries() {
		if e.File != file || e.State != skills.Broken {
			continue
		}
		for _, d := range e.Diagnostics {
			if d.Level == skills.Fault {
				return "", errors.New(d.String())
			}
		}
	}
	return row.Name + " was reloaded from its file", nil
}

// create creates a skill of the project.
func (a actions) create(_ context.Context, name string) (string, error) {
	file, err := a.places.Create(name, true)
	if err != nil {
		return "", err
	}
	a.skills.Refresh()
	return "made " + file + ": edit it with /skills, or let the agent write it", nil
}
