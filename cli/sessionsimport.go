package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/uuid"

	"jcode/cli/console"
	"jcode/internal/foreign"
	"jcode/internal/paths"
	"jcode/internal/text"
	"jcode/session"
)

type sessionsImportCmd struct {
	From []string `arg:"" optional:"" help:"A file or folder of theirs, or @claude, @codex, @gemini, @opencode or @pi; without one, all that are found."`
}

// Run imports the histories of other agents.
func (c *sessionsImportCmd) Run(ctx context.Context, f *flags, std Streams) error {
	a, err := openKept(ctx, f, std)
	if err != nil {
		return err
	}
	defer a.close()
	from := c.From
	if from == nil {
		for _, name := range foreign.Agents() {
			from = append(from, "@"+name)
		}
	}
	im := newImporter(a)
	var total imported
	for _, name := range from {
		list, agent, err := im.files(name)
		if err != nil {
			return console.Usage("%w", err)
		}
		for _, file := range list {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			_, one, err := im.read(ctx, file, agent)
			if err != nil {
				return err
			}
			total.add(one)
		}
	}
	fmt.Fprintf(std.Out, "%s new, %s continued, %d as before\n", text.Count(total.fresh, "session"), text.Count(total.longer, "session"), total.same)
	if total.kept > 0 {
		fmt.Fprintf(std.Out, "%s went on here and stay as they are\n", text.Count(total.kept, "session"))
	}
	return nil
}

// imported counts what became of histories.
type imported struct{ fresh, longer, same, kept int }

func (i *imported) add(one imported) {
	i.fresh, i.longer, i.same, i.kept = i.fresh+one.fresh, i.longer+one.longer, i.same+one.same, i.kept+one.kept
}

// importer turns histories of other agents into sessions. The same history is always the same session, so that a second
// import brings only what is new.
type importer struct {
	store                    *session.Store
	home, cwd, root, project string
	std                      Streams
}

func newImporter(a *app) importer {
	return importer{a.store, a.paths.Home, a.cwd, a.root, a.project, a.std}
}

// files lists the files that a name on the command line means.
func (im importer) files(name string) (list []string, agent string, err error) {
	if agent, ok := strings.CutPrefix(name, "@"); ok {
		list, err = foreign.Find(im.home, agent)
		return list, agent, err
	}
	info, err := os.Stat(name)
	if err != nil {
		return nil, "", err
	}
	if !info.IsDir() {
		return []string{name}, "", nil
	}
	list, err = foreign.In(name)
	return list, "", err
}

// latest imports the last session of an agent in this folder, and returns its ID.
func (im importer) latest(ctx context.Context, agent string) (string, error) {
	list, err := foreign.Find(im.home, agent)
	if err != nil {
		return "", err
	}
	for _, file := range slices.Backward(list) {
		s, _, ok := foreign.Read(file, agent)
		if !ok || !im.here(im.folder(s)) {
			continue
		}
		id, _, err := im.read(ctx, file, agent)
		return id, err
	}
	return "", fmt.Errorf("%s has no session of this folder: jcode sessions import @%s takes those of all folders", foreign.Title(agent), agent)
}

// here reports whether a folder is the one of this run.
func (im importer) here(dir string) bool {
	real := paths.Real(dir)
	return dir != "" && (real == im.cwd || real == im.root)
}

// folder returns the folder of a session, "" if it is not known. Gemini CLI keeps only its hash.
func (im importer) folder(s foreign.Session) string {
	if s.Folder != "" {
		return s.Folder
	}
	for _, dir := range []string{im.cwd, im.root} {
		if sum := sha256.Sum256([]byte(dir)); strings.Contains(filepath.ToSlash(s.File), "/"+hex.EncodeToString(sum[:])+"/") {
			return dir
		}
	}
	return ""
}

// read imports one file.
func (im importer) read(ctx context.Context, file, agent string) (id string, out imported, err error) {
	s, faults, ok := foreign.Read(file, agent)
	for _, f := range faults {
		fmt.Fprintln(im.std.Err, "jcode: "+text.Visible(f.String()))
	}
	if !ok {
		return "", out, nil
	}
	id = importedID(s)
	rows := im.rows(s)
	before, err := im.store.History().All(ctx, id)
	_, missing := im.store.Get(ctx, id)
	switch {
	case errors.Is(missing, session.ErrNotFound):
		if err := im.begin(ctx, id, s, rows[0]); err != nil {
			return "", out, err
		}
		before, out.fresh = rows[:1], 1
	case err != nil:
		return "", out, console.AsUsage(err)
	case len(before) > len(rows) || !slices.EqualFunc(before, rows[:len(before)], sameRow):
		return id, imported{kept: 1}, nil
	case len(before) == len(rows):
		return id, imported{same: 1}, nil
	default:
		out.longer = 1
	}
	for _, row := range rows[len(before):] {
		row.Session = id
		if _, err := im.store.History().Append(ctx, row); err != nil {
			return "", out, console.AsUsage(err)
		}
	}
	return id, out, console.AsUsage(im.store.Imported(ctx, id, rows[len(rows)-1].Created))
}

func sameRow(a, b session.Message) bool { return a.Role == b.Role && a.Text() == b.Text() }

// begin stores a new session with its first row.
func (im importer) begin(ctx context.Context, id string, s foreign.Session, first session.Message) error {
	v := session.Session{ID: id, Title: text.Valid(s.Title), TitleSource: session.TitleAuto, Cwd: im.folder(s), ProjectID: im.project, Created: first.Created}
	if v.Cwd == "" {
		v.Cwd = im.cwd
	} else if p, err := session.FindProject(v.Cwd); err == nil {
		v.ProjectID, v.Cwd = p.ID, paths.Real(v.Cwd)
	} else if !im.here(v.Cwd) {
		v.ProjectID = filepath.Clean(v.Cwd) // the folder is gone: it is found in the list of all
	}
	_, _, err := im.store.Begin(ctx, v, first)
	return console.AsUsage(err)
}

// rows returns the messages of a session, after a note of where they come from.
func (im importer) rows(s foreign.Session) []session.Message {
	note := fmt.Sprintf("This conversation was imported from %s (%s). Its tools were not the ones here: calls and results are in the messages as text.", foreign.Title(s.Agent), text.OneLine(text.Clean(s.File)))
	out := []session.Message{{Role: session.RoleSystem, Parts: []session.Part{{Kind: session.PartText, Text: text.Valid(note)}}, Created: s.Messages[0].Time}}
	for _, m := range s.Messages {
		row := session.Message{Role: session.RoleUser, Created: m.Time}
		if m.Role == foreign.Assistant {
			row.Role = session.RoleAssistant
		}
		if m.Thinking != "" {
			row.Parts = append(row.Parts, session.Part{Kind: session.PartReasoning, MIME: session.Foreign, Text: text.Valid(m.Thinking)})
		}
		for _, p := range m.Pictures {
			row.Parts = append(row.Parts, session.Part{Kind: session.PartImage, MIME: p.MIME, Data: p.Data})
		}
		if m.Text != "" {
			row.Parts = append(row.Parts, session.Part{Kind: session.PartText, Text: text.Valid(m.Text)})
		}
		out = append(out, row)
	}
	return out
}

// importedID returns the ID of an imported session: always the same for the same history, with its time in front like
// any other.
func importedID(s foreign.Session) string {
	sum := sha256.Sum256([]byte(s.Agent + "\x00" + s.ID))
	var id uuid.UUID
	copy(id[:], sum[:])
	ms := max(s.Messages[0].Time.UnixMilli(), 0)
	for i := range 6 {
		id[i] = byte(ms >> (8 * (5 - i)))
	}
	id[6], id[8] = id[6]&0x0f|0x70, id[8]&0x3f|0x80
	return id.String()
}
