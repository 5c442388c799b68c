package session

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"jcode/session/db"
)

// Session is one row of sessions.
type Session struct {
	ID           string // UUIDv7
	Title        string
	TitleSource  string // TitleAuto or TitleUser
	ParentID     string // the session it was forked from or works for
	ForkSeq      int64  // last message taken over from the parent
	Kind         string // "" for ordinary sessions, else one of the kinds below
	Cwd          string // working folder, resolved
	ProjectID    string // see ProjectID
	RoleName     string
	RoleSnapshot string // the role as JSON when it was entered
	Private      bool   // kept in memory only: see Memory. No column
	RoleValues   string // values of roles' variables as JSON: role names, each with its values by name
	Model        string
	Mode         string
	Created      time.Time
	Updated      time.Time
	Archived     bool
	// What follows is counted by the store. Messages are those of the person and the
	// model; tokens and cost include the sub-agents that worked for the session.
	Messages     int
	InputTokens  int64
	OutputTokens int64
	CachedTokens int64
	// WrittenTokens are those of InputTokens that were written to the provider's cache.
	WrittenTokens int64
	Cost          float64
	// Estimated says that some counts, and so the cost, are not the provider's own.
	Estimated   bool
	FirstPrompt string // first line of the first prompt
}

// Where a session's title comes from.
const (
	TitleAuto = "auto"
	TitleUser = "user"
)

// Kinds of sessions, for Session.Kind and Filter.Kind.
const (
	KindTask    = "task"    // a sub-agent's, under its parent
	KindAttempt = "attempt" // one attempt of a worker at a queued task
	KindAny     = "*"       // in a Filter: every kind
)

const sessionColumns = `s.id, s.title, s.title_source, s.parent_id, s.fork_seq, s.kind, s.cwd, s.project_id,
	s.role_name, s.role_snapshot, s.model, s.mode, s.created, s.updated, s.archived,
	s.messages, s.input_tokens, s.output_tokens, s.cached_tokens, s.cost, s.first_prompt, s.role_values,
	s.written_tokens, s.estimated`

// nextUse is the position of a session that is used now, in the order of use.
const nextUse = "(SELECT coalesce(max(used), 0) + 1 FROM sessions)"

func scanSession(scan db.Scan) (s Session, err error) {
	err = scan(&s.ID, &s.Title, &s.TitleSource, &s.ParentID, &s.ForkSeq, &s.Kind, &s.Cwd, &s.ProjectID,
		&s.RoleName, &s.RoleSnapshot, &s.Model, &s.Mode, millis{&s.Created}, millis{&s.Updated}, &s.Archived,
		&s.Messages, &s.InputTokens, &s.OutputTokens, &s.CachedTokens, &s.Cost, &s.FirstPrompt, &s.RoleValues,
		&s.WrittenTokens, &s.Estimated)
	return s, err
}

// sessions returns the sessions that a query selects. rest is its text after FROM sessions s.
func (s *Store) sessions(ctx context.Context, rest string, args ...any) ([]Session, error) {
	return db.All(ctx, s.db, "SELECT "+sessionColumns+" FROM sessions s "+rest, args, scanSession)
}

func fromMillis(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}

// anyTime reads a time from a column that may hold anything.
func anyTime(v any) time.Time {
	ms, _ := v.(int64)
	return fromMillis(ms)
}

func toMillis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// Create stores a new session and returns it with its times, and with an ID unless it has
// one. The counted fields are ignored. Begin creates a session with its first message, so
// that a start without a message leaves no trace.
func (s *Store) Create(ctx context.Context, v Session) (out Session, err error) {
	err = s.change(ctx, "create session", func(t *tx) error {
		out, _, err = t.create(v)
		return err
	})
	return out, err
}

// NewID returns an ID for a new session.
func NewID() (string, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return "", fmt.Errorf("make session ID: %w", err)
	}
	return id.String(), nil
}

// ShortID returns the end of an ID, by which a store finds a session: the beginning is a time.
func ShortID(id string) string { return id[max(0, len(id)-8):] }

// Begin stores a new session together with its first message, in one transaction. It returns
// the session as Create does, and the message's seq.
func (s *Store) Begin(ctx context.Context, v Session, first Message) (out Session, seq int64, err error) {
	if v.Kind == KindTask && !s.Memory().Has(v.ParentID) {
		s.Memory().forget(v.ID) // its parent was saved a moment ago
	}
	s, done := s.of(v.ID)
	defer done()
	parts, usage, err := encodeMessage(first)
	if err != nil {
		return Session{}, 0, fmt.Errorf("begin session: %w", err)
	}
	err = s.change(ctx, "begin session", func(t *tx) error {
		if out, _, err = t.create(v); err != nil {
			return err
		}
		first.Session = out.ID
		seq, err = t.appendMessage(first, parts, usage)
		return err
	})
	if err != nil {
		return Session{}, 0, err
	}
	return out, seq, nil
}

// create inserts a session and returns its internal key too.
func (t *tx) create(v Session) (Session, int64, error) {
	if v.ID == "" {
		var err error
		if v.ID, err = NewID(); err != nil {
			return Session{}, 0, err
		}
	}
	if t.s.inMemory() {
		t.s.ids.add(v.ID)
	}
	if v.TitleSource == "" {
		v.TitleSource = TitleAuto
		if v.Title != "" {
			v.TitleSource = TitleUser
		}
	}
	v.Title = ShortTitle(v.Title)
	now := t.now()
	if v.Created.IsZero() {
		v.Created = now
	}
	v.Updated = now
	res, err := t.Exec(`INSERT INTO sessions (id, title, title_source, parent_id, fork_seq, kind, cwd, project_id,
		role_name, role_snapshot, role_values, model, mode, created, updated, archived, used) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,`+nextUse+`)`,
		v.ID, v.Title, v.TitleSource, v.ParentID, v.ForkSeq, v.Kind, v.Cwd, v.ProjectID,
		v.RoleName, v.RoleSnapshot, v.RoleValues, v.Model, v.Mode, toMillis(v.Created), toMillis(v.Updated), v.Archived)
	if err != nil {
		return Session{}, 0, err
	}
	n, err := res.LastInsertId()
	if err != nil {
		return Session{}, 0, err
	}
	if v.Title != "" {
		if err := t.index(n<<seqBits, v.Title); err != nil {
			return Session{}, 0, err
		}
	}
	v.Created, v.Updated = fromMillis(toMillis(v.Created)), fromMillis(toMillis(v.Updated))
	v.Messages, v.InputTokens, v.OutputTokens, v.CachedTokens, v.Cost, v.FirstPrompt = 0, 0, 0, 0, 0, ""
	v.WrittenTokens, v.Estimated = 0, false
	return v, n, nil
}

// Get returns one session, or ErrNotFound.
func (s *Store) Get(ctx context.Context, id string) (Session, error) {
	s, done := s.of(id)
	defer done()
	found, err := s.sessions(ctx, "WHERE s.id = ?", id)
	if err == nil && len(found) == 0 {
		err = ErrNotFound
	}
	if err != nil {
		return Session{}, fmt.Errorf("session %s: %w", id, err)
	}
	v := found[0]
	v.Private = s.inMemory()
	return v, nil
}

// AmbiguousError says that several sessions match a title or a part of an ID.
type AmbiguousError struct {
	Name     string
	Sessions []Session
}

func (e *AmbiguousError) Error() string {
	ids := make([]string, len(e.Sessions))
	for i, v := range e.Sessions {
		ids[i] = v.ID
	}
	return fmt.Sprintf("%q matches %d sessions; give a longer ID: %s", e.Name, len(e.Sessions), strings.Join(ids, ", "))
}

// Find returns the session that a person names by its ID, by its title in the project, or by
// the beginning or the end of its ID (at least 4 characters), in this order. It returns
// ErrNotFound, or an *AmbiguousError.
func (s *Store) Find(ctx context.Context, projectID, name string) (Session, error) {
	if name == "" {
		return Session{}, fmt.Errorf("find session: no name: %w", ErrNotFound)
	}
	v, err := s.Get(ctx, name)
	if err == nil || !errors.Is(err, ErrNotFound) {
		return v, err
	}
	if mem := s.Memory().store(); mem != nil {
		if v, err := mem.Find(ctx, projectID, name); err == nil {
			v.Private = true
			return v, nil
		}
	}
	type try struct {
		where string
		args  []any
	}
	tries := []try{{"s.title = ? AND s.project_id = ? AND s.kind = ''", []any{name, projectID}}}
	if part := strings.ToLower(name); len(part) >= 4 && strings.Trim(part, "0123456789abcdef-") == "" {
		tries = append(tries, try{"s.id LIKE ? OR s.id LIKE ?", []any{part + "%", "%" + part}})
	}
	for _, try := range tries {
		all, err := s.sessions(ctx, "WHERE ("+try.where+") ORDER BY s.used DESC LIMIT 10", try.args...)
		switch {
		case err != nil:
			return Session{}, fmt.Errorf("find session %q: %w", name, err)
		case len(all) == 1:
			return all[0], nil
		case len(all) > 1:
			return Session{}, &AmbiguousError{Name: name, Sessions: all}
		}
	}
	return Session{}, fmt.Errorf("session %q: %w", name, ErrNotFound)
}

// Change holds the fields that Update sets; nil leaves a field as it is.
type Change struct {
	Model        *string
	Mode         *string
	RoleName     *string
	RoleSnapshot *string
	RoleValues   *string
	Cwd          *string
	ProjectID    *string
	Archived     *bool
}

// Update changes a session's settings.
func (s *Store) Update(ctx context.Context, id string, c Change) error {
	return s.changeIn(ctx, id, "update session "+id, func(t *tx) error {
		return affected(t.Exec(`UPDATE sessions SET model = coalesce(?, model), mode = coalesce(?, mode),
			role_name = coalesce(?, role_name), role_snapshot = coalesce(?, role_snapshot), role_values = coalesce(?, role_values),
			cwd = coalesce(?, cwd), project_id = coalesce(?, project_id), archived = coalesce(?, archived), updated = ?, used = `+nextUse+` WHERE id = ?`,
			c.Model, c.Mode, c.RoleName, c.RoleSnapshot, c.RoleValues, c.Cwd, c.ProjectID, c.Archived, toMillis(t.now()), id))
	})
}

// Imported says that a session came from another program, where it was last used at a time: it takes no place among
// those that were used here.
func (s *Store) Imported(ctx context.Context, id string, at time.Time) error {
	return s.changeIn(ctx, id, "date session "+id, func(t *tx) error {
		return affected(t.Exec("UPDATE sessions SET updated = ?, used = 0 WHERE id = ?", toMillis(at), id))
	})
}

// changedRows returns how many rows a statement changed.
func changedRows(res sql.Result, err error) (int64, error) {
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// affected returns ErrNotFound for a statement that changed no row.
func affected(res sql.Result, err error) error {
	n, err := changedRows(res, err)
	if err == nil && n == 0 {
		err = ErrNotFound
	}
	return err
}
