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
	"time"

	"github.com/google/uuid"

	"jcode/cli/console"
	"jcode/internal/foreign"
	"jcode/internal/paths"
	"jcode/internal/text"
	"jcode/session"
)

type sessionsImportCmd struct {
	From []string `arg:"" optional:"" help:"A file or folder of theirs, or @claude, @codex, @gemini, @pi, @opencode or @crush; without one, all that are found."`
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

// importer turns histories of other agents into sessions. The same history is always the same session, so that a second
// import brings only what is new.
type importer struct {
	store                    *session.Store
	home, cwd, root, project string
	std                      Streams
	seen                     map[string]bool // the IDs of this import
}

func newImporter(a *app) importer {
	return importer{a.store, a.paths.Home, a.cwd, a.root, a.project, a.std, map[string]bool{}}
}

func (im importer) places() foreign.Places {
	return foreign.Places{Home: im.home, Here: []string{im.cwd, im.root}, Env: im.std.Getenv}
}

// files lists the files that a name on the command line means.
func (im importer) files(name string) (list []string, agent string, err error) {
	if agent, ok := strings.CutPrefix(name, "@"); ok {
		list, err = foreign.Find(im.places(), agent)
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
	list, err := foreign.Find(im.places(), agent)
	if err != nil {
		return "", err
	}
	for _, file := range slices.Backward(list) {
		for s, faults := range foreign.Read(ctx, file, agent) {
			if len(s.Messages) == 0 || !im.here(im.folder(s)) {
				continue
			}
			im.tell(faults)
			id, _, err := im.keep(ctx, s)
			return id, err
		}
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

// all imports the sessions of a file.
func (im importer) all(ctx context.Context, file, agent string, total *imported) error {
	for s, faults := range foreign.Read(ctx, file, agent) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		im.tell(faults)
		if len(s.Messages) == 0 || im.seen[s.Agent+s.ID] {
			continue
		}
		im.seen[s.Agent+s.ID] = true
		_, one, err := im.keep(ctx, s)
		if err != nil {
			return err
		}
		total.add(one)
	}
	return nil
}

func (im importer) tell(faults []foreign.Fault) {
	for _, f := range faults {
		fmt.Fprintln(im.std.Err, "jcode: "+text.Visible(f.String()))
	}
}

// keep stores a session, or what is new of it.
func (im importer) keep(ctx context.Context, s foreign.Session) (id string, out imported, err error) {
	id = importedID(s)
	rows := im.rows(s)
	if _, missing := im.store.Get(ctx, id); errors.Is(missing, session.ErrNotFound) {
		out.fresh = 1
		if err := im.begin(ctx, id, s, rows[0]); err != nil {
			return "", out, err
		}
		return id, out, im.add(ctx, id, rows[1:], rows)
	}
	before, err := im.store.History().All(ctx, id)
	if err != nil {
		return "", out, console.AsUsage(err)
	}
	same := 0
	for same < min(len(before), len(rows)) && sameRow(before[same], rows[same]) {
		same++
	}
	switch {
	case same == len(before) && same == len(rows):
		return id, imported{same: 1}, nil
	case same == len(before):
	case same == len(before)-1 && same < len(rows) && grew(before[same], rows[same]):
		if _, err := im.store.History().Rewind(ctx, id, before[same].Seq); err != nil {
			return "", out, console.AsUsage(err)
		}
	default:
		return id, imported{kept: 1}, nil
	}
	return id, imported{longer: 1}, im.add(ctx, id, rows[same:], rows)
}

// add appends rows, of all those that there are.
func (im importer) add(ctx context.Context, id string, rows, all []session.Message) error {
	for _, row := range rows {
		row.Session = id
		seq, err := im.store.History().Append(ctx, row)
		if err != nil {
			return console.AsUsage(err)
		}
		for i, c := range row.Calls {
			c.Session, c.Seq, c.Index = id, seq, i
			if err := im.store.History().FinishCall(ctx, c); err != nil {
				return console.AsUsage(err)
			}
		}
	}
	return console.AsUsage(im.store.Imported(ctx, id, all[len(all)-1].Created))
}

func sameRow(a, b session.Message) bool {
	return a.Role == b.Role && a.Text() == b.Text() && slices.EqualFunc(a.Calls, b.Calls, sameCall)
}

func sameCall(a, b session.Call) bool {
	return a.Name == b.Name && a.Arguments == b.Arguments && a.Result == b.Result
}

// grew reports whether an answer that was not complete has become another one by going on.
func grew(before, now session.Message) bool {
	if before.Role != session.RoleAssistant || now.Role != before.Role || !strings.HasPrefix(now.Text(), before.Text()) || len(before.Calls) > len(now.Calls) {
		return false
	}
	for i, c := range before.Calls {
		if n := now.Calls[i]; c.Name != n.Name || c.Arguments != n.Arguments || c.Status != session.StatusInterrupted && c.Result != n.Result {
			return false
		}
	}
	return true
}

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
	note := fmt.Sprintf("This conversation was imported from %s (%s). Calls of tools that there are not here are in the messages as text, with their results.", foreign.Title(s.Agent), text.OneLine(text.Clean(s.File)))
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
		for i, c := range m.Calls {
			row.Calls = append(row.Calls, im.call(c, fmt.Sprintf("imported-%d-%d", len(out), i), m.Time))
		}
		out = append(out, row)
	}
	return out
}

// noResult is the result of a call that has none.
const noResult = "interrupted: no result was kept"

// call returns a call of a tool that there is here too.
func (im importer) call(c foreign.Call, id string, at time.Time) session.Call {
	out := session.Call{ID: id, Name: c.Name, Wire: c.Name, Arguments: text.Valid(string(c.Arguments)), Status: session.StatusDone, Result: text.Valid(c.Result), Ended: at}
	switch {
	case !c.Done:
		out.Status, out.Result = session.StatusInterrupted, noResult
	case c.Failed:
		out.Status = session.StatusFailed
	}
	for _, p := range c.Pictures {
		out.Parts = append(out.Parts, session.Part{Kind: session.PartImage, MIME: p.MIME, Data: p.Data})
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
