package sessionscli

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

// Importer turns histories of other agents into sessions. The same history is always the same session, so that a second
// import brings only what is new.
type Importer struct {
	Store                    *session.Store
	Home, Cwd, Root, Project string
	Std                      console.Streams

	seen map[string]bool // the IDs of this import
}

func (im Importer) places() foreign.Places {
	return foreign.Places{Home: im.Home, Here: []string{im.Cwd, im.Root}, Env: im.Std.Getenv}
}

// files lists the files that a name on the command line means.
func (im Importer) files(name string) (list []string, agent string, err error) {
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

// Latest imports the last session of an agent in this folder, and returns its ID.
func (im Importer) Latest(ctx context.Context, agent string) (string, error) {
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
func (im Importer) here(dir string) bool {
	real := paths.Real(dir)
	return dir != "" && (real == im.Cwd || real == im.Root)
}

// folder returns the folder of a session, "" if it is not known. Gemini CLI keeps only its hash.
func (im Importer) folder(s foreign.Session) string {
	if s.Folder != "" {
		return s.Folder
	}
	for _, dir := range []string{im.Cwd, im.Root} {
		if sum := sha256.Sum256([]byte(dir)); strings.Contains(filepath.ToSlash(s.File), "/"+hex.EncodeToString(sum[:])+"/") {
			return dir
		}
	}
	return ""
}

// all imports the sessions of a file.
func (im Importer) all(ctx context.Context, file, agent string, total *imported) error {
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

func (im Importer) tell(faults []foreign.Fault) {
	for _, f := range faults {
		fmt.Fprintln(im.Std.Err, "jcode: "+text.Visible(f.String()))
	}
}

// keep stores a session, or what is new of it.
func (im Importer) keep(ctx context.Context, s foreign.Session) (id string, out imported, err error) {
	id = importedID(s)
	rows := im.rows(s)
	if _, missing := im.Store.Get(ctx, id); errors.Is(missing, session.ErrNotFound) {
		out.fresh = 1
		if err := im.begin(ctx, id, s, rows[0]); err != nil {
			return "", out, err
		}
		return id, out, im.add(ctx, id, rows[1:], rows)
	}
	before, err := im.Store.History().All(ctx, id)
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
		if _, err := im.Store.History().Rewind(ctx, id, before[same].Seq); err != nil {
			return "", out, console.AsUsage(err)
		}
	default:
		return id, imported{kept: 1}, nil
	}
	return id, imported{longer: 1}, im.add(ctx, id, rows[same:], rows)
}

// add appends rows, of all those that there are.
func (im Importer) add(ctx context.Context, id string, rows, all []session.Message) error {
	for _, row := range rows {
		row.Session = id
		seq, err := im.Store.History().Append(ctx, row)
		if err != nil {
			return console.AsUsage(err)
		}
		for i, c := range row.Calls {
			c.Session, c.Seq, c.Index = id, seq, i
			if err := im.Store.History().FinishCall(ctx, c); err != nil {
				return console.AsUsage(err)
			}
		}
	}
	return console.AsUsage(im.Store.Imported(ctx, id, all[len(all)-1].Created))
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
func (im Importer) begin(ctx context.Context, id string, s foreign.Session, first session.Message) error {
	v := session.Session{ID: id, Title: text.Valid(s.Title), TitleSource: session.TitleAuto, Cwd: im.folder(s), ProjectID: im.Project, Created: first.Created}
	if v.Cwd == "" {
		v.Cwd = im.Cwd
	} else if p, err := session.FindProject(v.Cwd); err == nil {
		v.ProjectID, v.Cwd = p.ID, paths.Real(v.Cwd)
	} else if !im.here(v.Cwd) {
		v.ProjectID = filepath.Clean(v.Cwd) // the folder is gone: it is found in the list of all
	}
	_, _, err := im.Store.Begin(ctx, v, first)
	return console.AsUsage(err)
}

// rows returns the messages of a session, after a note of where they come from.
func (im Importer) rows(s foreign.Session) []session.Message {
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
func (im Importer) call(c foreign.Call, id string, at time.Time) session.Call {
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
