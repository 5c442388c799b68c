package memory

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"jcode/internal/slicex"
	"jcode/internal/text"
	"jcode/notes"
	"jcode/tools/command"
)

// Panel is /memory: the notes, drafts first, then those that the last turn used.
func (m *Memory) Panel(a Actions) command.Panel {
	return command.Panel{
		Name: "memory", Help: "notes from earlier sessions: read, edit, forget; drafts", Title: "Memory",
		Empty: "No notes from earlier sessions. The agent keeps some with the tool remember; your own go into " + a.Notes.Folder(notes.Project) + "/MEMORY.md, a line each.",
		Rows:  func(context.Context) ([]command.Row, error) { return m.rows(a) },
		Actions: []command.Action{
			{Label: labelMend, Edit: m.toMend, Edited: a.mended},
			{Key: "ctrl+a", Label: labelAccept, Run: a.accept},
			{Key: "ctrl+d", Label: labelForget, Confirm: true, Run: func(ctx context.Context, row command.Row) (string, error) { return a.Forget(ctx, noteOf(row)) }},
			{Key: "ctrl+o", Label: labelOpen, Command: func(row command.Row) string {
				_, id, _ := strings.Cut(row.ID, " ")
				if id == "" {
					return "/memory"
				}
				return "/resume " + id
			}},
		},
		Verbs: m.verbs(a),
	}
}

// The labels of the actions that a row names.
const (
	labelMend   = "edit its file"
	labelAccept = "accept"
	labelForget = "forget"
	labelOpen   = "open its session"
)

// noteOf returns the ID of a row's note; the session follows it.
func noteOf(row command.Row) string {
	id, _, _ := strings.Cut(row.ID, " ")
	return id
}

func (m *Memory) rows(a Actions) ([]command.Row, error) {
	list, problems := a.Notes.List()
	drafts, more := a.Notes.Drafts()
	var out []command.Row
	for _, n := range drafts {
		row := rowOf(n, "draft")
		row.Current, row.Keys = true, []string{labelAccept, labelForget}
		out = append(out, row)
	}
	used, last := m.uses.names()
	offered := map[string]bool{}
	if conv := m.opts.Open(); conv != nil {
		for _, n := range m.offered(conv.ID()) {
			offered[n.ID] = true
		}
	}
	var rest []command.Row
	for _, n := range list {
		state := "since " + n.Since.Format("2006-01-02")
		switch {
		case used[n.ID]:
			state = "used"
		case len(n.Changed) > 0:
			state = "may be outdated"
		case offered[n.ID]:
			state = "offered"
		}
		row := rowOf(n, state)
		row.Bad = len(n.Changed) > 0 || n.Secret
		row.Keys = []string{labelMend, labelForget}
		if n.From.Session != "" {
			row.Keys = append(row.Keys, labelOpen)
		}
		if last[n.ID] {
			out = append(out, row)
		} else {
			rest = append(rest, row)
		}
	}
	out = append(out, rest...)
	for _, p := range append(problems, more...) {
		out = append(out, command.Row{Name: text.Visible(p.File), Info: p.Text, State: "not read", Bad: true, Keys: []string{}})
	}
	return out, nil
}

func rowOf(n notes.Note, state string) command.Row {
	topic := n.Topic
	if n.About == notes.User {
		topic = "you: " + topic
	}
	return command.Row{
		ID: strings.TrimSpace(n.ID + " " + n.From.Session), Name: text.Visible(topic), Info: text.Visible(text.OneLine(n.Text)), State: state,
		Detail: text.Visible(Detail(n)), Search: n.Text + " " + n.ID,
	}
}

// toMend returns the file of a row's note, for the person's editor.
func (m *Memory) toMend(row command.Row) (string, error) {
	n, err := m.opts.Notes.Find(noteOf(row))
	if err != nil {
		return "", errors.New("a draft is accepted with ctrl+a, or dropped with ctrl+d")
	}
	return n.File, nil
}

// mended writes the list of notes anew after a person edited a file.
func (a Actions) mended(ctx context.Context, _ command.Row, file string) (string, error) {
	for _, about := range []notes.About{notes.Project, notes.User} {
		if err := a.Notes.Refresh(ctx, about); err != nil {
			return "", err
		}
	}
	return "read again: " + file, nil
}

// accept makes a draft a note.
func (a Actions) accept(ctx context.Context, row command.Row) (string, error) {
	c, err := a.Notes.Accept(ctx, noteOf(row))
	if err != nil {
		return "", err
	}
	said := "kept in " + c.Note.Topic
	for _, old := range c.Against {
		said += fmt.Sprintf("; an earlier note may say otherwise: %s", text.Ellipsis(text.OneLine(old.Text), 100))
	}
	return said, nil
}

// Names proposes notes and drafts by their IDs, with the text of each.
func (a Actions) Names() []command.Choice {
	list, _ := a.Notes.List() // the list of notes reports what can't be read
	drafts, _ := a.Notes.Drafts()
	return slicex.Map(append(list, drafts...), func(n notes.Note) command.Choice { return command.Choice{Value: n.ID, Info: n.Text} })
}

// verbs are the words of /memory.
func (m *Memory) verbs(a Actions) command.Verbs {
	ids := func(context.Context, string) []string {
		return slicex.Map(a.Names(), func(c command.Choice) string { return c.Value })
	}
	return Table().Verbs(ids, command.Deeds{
		"list": {Run: func(context.Context, string) (string, error) { return a.List(), nil }},
		"show": {Run: func(_ context.Context, what string) (string, error) { return a.Show(what) }},
		"forget": {Run: func(ctx context.Context, which string) (string, error) {
			return a.Forget(ctx, strings.Fields(which)...)
		}},
		"export": {Run: func(_ context.Context, file string) (string, error) { return a.Export(file) }},
		"import": {Run: func(ctx context.Context, file string) (string, error) {
			if file == "" {
				return a.ImportOthers(ctx)
			}
			return a.Import(ctx, file)
		}},
		"learn": {Run: func(ctx context.Context, _ string) (string, error) { return m.learnNow(ctx, a) }},
	})
}

// List implements command.Source: /recall.
func (m *Memory) List() []command.Command {
	return []command.Command{{
		Name: "recall", Hint: "WORDS", Description: "search notes and the text of earlier sessions",
		Run: func(ctx context.Context, args string) (command.Outcome, error) {
			if strings.TrimSpace(args) == "" {
				return command.Outcome{Page: "Recall", Notice: "/recall WORDS searches notes and earlier sessions of this project. /resume opens a session."}, nil
			}
			a := Actions{Notes: m.opts.Notes, Sessions: m.opts.Sessions, Project: m.opts.Project}
			out, err := a.Recall(ctx, args, m.session())
			return command.Outcome{Notice: out, Page: "Recall: " + args}, err
		},
	}}
}

func (m *Memory) session() string {
	if conv := m.opts.Open(); conv != nil {
		return conv.ID()
	}
	return ""
}
