package memory

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"jcode/internal/atomicfile"
	"jcode/internal/paths"
	"jcode/internal/text"
	"jcode/notes"
	"jcode/session"
)

// Actions are what a person does with notes, in the chat and on the command line.
type Actions struct {
	Notes    *notes.Store
	Sessions *session.Store
	Project  string // the ID of the project's sessions
	// Home is where other agents keep their memories; Root is the project's.
	Home, Root string
}

// List returns notes and drafts as lines of text.
func (a Actions) List() string {
	list, problems := a.Notes.List()
	drafts, more := a.Notes.Drafts()
	var b strings.Builder
	for _, n := range list {
		b.WriteString(text.Visible(Row(n)) + "\n")
	}
	for _, n := range drafts {
		b.WriteString(n.ID + "  draft  " + text.Visible(text.OneLine(n.Text)) + "\n")
	}
	for _, p := range append(problems, more...) {
		b.WriteString(text.Visible(p.String()) + "\n")
	}
	if b.Len() == 0 {
		return "There are no notes from earlier sessions: the agent keeps some with the tool remember, and you write your own into " + filepath.Join(a.Notes.Folder(notes.Project), "MEMORY.md")
	}
	return strings.TrimRight(b.String(), "\n")
}

// Row is a note on a line.
func Row(n notes.Note) string {
	topic := n.Topic
	if n.About == notes.User {
		topic = "user/" + topic
	}
	line := n.ID + "  " + topic + "  " + text.OneLine(n.Text)
	if len(n.Changed) > 0 {
		line += "  (may be outdated: " + strings.Join(n.Changed, ", ") + ")"
	}
	return line
}

// JSON returns notes and drafts as JSON.
func (a Actions) JSON() ([]byte, error) {
	list, _ := a.Notes.List()
	drafts, _ := a.Notes.Drafts()
	out := struct {
		Notes  []notes.Data `json:"notes"`
		Drafts []notes.Data `json:"drafts"`
	}{[]notes.Data{}, []notes.Data{}}
	for _, n := range list {
		out.Notes = append(out.Notes, n.Data())
	}
	for _, n := range drafts {
		out.Drafts = append(out.Drafts, n.Data())
	}
	return json.MarshalIndent(out, "", "  ")
}

// Show returns a note, or all notes of a topic, with where they are from.
func (a Actions) Show(name string) (string, error) {
	list, _ := a.Notes.List()
	var b strings.Builder
	for _, n := range list {
		if n.ID == name || n.Topic == name {
			b.WriteString(text.Visible(Detail(n)) + "\n\n")
		}
	}
	if b.Len() == 0 {
		n, err := a.Notes.Find(name)
		if err != nil {
			return "", fmt.Errorf("there is no note and no topic %q: jcode memory list names them", name)
		}
		return text.Visible(Detail(n)), nil
	}
	return strings.TrimSpace(b.String()), nil
}

// Detail is a note with all that is known of it.
func Detail(n notes.Note) string {
	lines := []string{n.Text, n.Written()}
	if n.From.Session != "" {
		lines = append(lines, "opened by: /resume "+short(n.From.Session))
	}
	if len(n.Depends) > 0 {
		var files []string
		for _, d := range n.Depends {
			files = append(files, d.Path)
		}
		lines = append(lines, "depends on "+strings.Join(files, ", "))
	}
	if len(n.Changed) > 0 {
		lines = append(lines, "changed since: "+strings.Join(n.Changed, ", "))
	}
	if n.Secret {
		lines = append(lines, "it contains what looks like a secret, so no model is shown it")
	}
	return strings.Join(append(lines, fmt.Sprintf("%s:%d", n.File, n.Line)), "\n")
}

func short(id string) string { return id[max(0, len(id)-8):] }

// Forget removes notes or drafts by their IDs.
func (a Actions) Forget(ctx context.Context, ids ...string) (string, error) {
	var said []string
	for _, id := range ids {
		n, err := a.Notes.Forget(ctx, id)
		if errors.Is(err, notes.ErrUnknown) {
			n, err = a.Notes.DropDraft(ctx, id)
		}
		if err != nil {
			return strings.Join(said, "\n"), err
		}
		said = append(said, "forgotten: "+text.Visible(text.OneLine(n.Text)))
	}
	return strings.Join(said, "\n"), nil
}

// Recall searches notes and earlier sessions.
func (a Actions) Recall(ctx context.Context, question string, except ...string) (string, error) {
	found, said, why, err := notes.Find(ctx, a.Notes, []notes.About{notes.Project, notes.User}, question, 10, func(ctx context.Context, limit int) ([]notes.Said, error) {
		return earlier(ctx, a.Sessions, a.Project, question, limit, except...)
	})
	return text.Visible(strings.TrimSpace(notes.Answer(found, said) + "\n" + why)), err
}

// maxExport bounds what is imported, in bytes.
const maxExport = 4 << 20

// Export writes all notes into one file, as JSON, or into Markdown on a name that ends with .md.
func (a Actions) Export(file string) (string, error) {
	list, _ := a.Notes.List()
	var out []byte
	if strings.EqualFold(filepath.Ext(file), ".md") {
		var b strings.Builder
		slices.SortStableFunc(list, func(x, y notes.Note) int { return cmp.Or(cmp.Compare(x.About, y.About), cmp.Compare(x.Topic, y.Topic)) })
		last := ""
		for _, n := range list {
			if head := string(n.About) + ": " + n.Topic; head != last {
				b.WriteString("\n# " + head + "\n\n")
				last = head
			}
			b.WriteString("- " + strings.ReplaceAll(n.Text, "\n", "\n  ") + " (" + n.Written() + ")\n")
		}
		out = []byte(strings.TrimLeft(b.String(), "\n"))
	} else {
		var err error
		if out, err = a.JSON(); err != nil {
			return "", err
		}
	}
	if file == "" || file == "-" {
		return string(out), nil
	}
	if _, err := os.Stat(file); err == nil {
		return "", fmt.Errorf("%s exists already: choose another name", file)
	}
	if err := atomicfile.Write(file, append(out, '\n'), atomicfile.Options{Perm: 0o600}); err != nil {
		return "", err
	}
	return "written to " + file + ": " + text.Count(len(list), "note"), nil
}

// Import reads notes that Export has written, or the items of a Markdown file, as drafts.
func (a Actions) Import(ctx context.Context, file string) (string, error) {
	data, err := paths.ReadFile(file, maxExport)
	if err != nil {
		return "", err
	}
	var in struct {
		Notes []notes.Data `json:"notes"`
	}
	var list []notes.New
	if err := json.Unmarshal(data, &in); err == nil {
		for _, n := range in.Notes {
			list = append(list, notes.New{Text: n.Text, Topic: n.Topic, About: n.About, By: n.By})
		}
	} else {
		list = notes.Items(string(data), filepath.Base(file))
	}
	return a.drafted(ctx, list, file)
}

// drafted puts proposals into the inbox, and says so.
func (a Actions) drafted(ctx context.Context, list []notes.New, from string) (string, error) {
	added, err := a.Notes.Draft(ctx, list...)
	if err != nil {
		return "", err
	}
	if added == 0 {
		return "nothing new in " + from, nil
	}
	return text.Count(added, "draft") + " from " + from + ": /memory accepts or drops them", nil
}
