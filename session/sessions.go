package session

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"
)

const sessionColumns = `s.id, s.title, s.title_source, s.parent_id, s.fork_seq, s.kind, s.cwd, s.project_id,
	s.role_name, s.role_snapshot, s.model, s.mode, s.created, s.updated, s.archived,
	s.messages, s.input_tokens, s.output_tokens, s.cached_tokens, s.cost, s.first_prompt`

func scanSession(scan func(...any) error) (Session, error) {
	var s Session
	var created, updated int64
	err := scan(&s.ID, &s.Title, &s.TitleSource, &s.ParentID, &s.ForkSeq, &s.Kind, &s.Cwd, &s.ProjectID,
		&s.RoleName, &s.RoleSnapshot, &s.Model, &s.Mode, &created, &updated, &s.Archived,
		&s.Messages, &s.InputTokens, &s.OutputTokens, &s.CachedTokens, &s.Cost, &s.FirstPrompt)
	s.Created, s.Updated = fromMillis(created), fromMillis(updated)
	return s, err
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

// Create writes a new session and gives it back with its ID (unless it brought one) and
// times. The counted fields are ignored. A session is meant to be created with its first
// message, so that a start without a message leaves no trace.
func (s *Store) Create(ctx context.Context, v Session) (Session, error) {
	var out Session
	err := s.write(ctx, func(t *tx) error {
		var err error
		out, _, err = s.create(t, v)
		return err
	})
	if err != nil {
		return Session{}, fmt.Errorf("create session: %w", err)
	}
	return out, nil
}

// create inserts a session and gives its internal key too.
func (s *Store) create(t *tx, v Session) (Session, int64, error) {
	if v.ID == "" {
		id, err := uuid.NewV7()
		if err != nil {
			return Session{}, 0, err
		}
		v.ID = id.String()
	}
	if v.TitleSource == "" {
		v.TitleSource = TitleAuto
		if v.Title != "" {
			v.TitleSource = TitleUser
		}
	}
	now := s.now()
	if v.Created.IsZero() {
		v.Created = now
	}
	v.Updated = now
	res, err := t.exec(`INSERT INTO sessions (id, title, title_source, parent_id, fork_seq, kind, cwd, project_id,
		role_name, role_snapshot, model, mode, created, updated, archived) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`,
		v.ID, v.Title, v.TitleSource, v.ParentID, v.ForkSeq, v.Kind, v.Cwd, v.ProjectID,
		v.RoleName, v.RoleSnapshot, v.Model, v.Mode, toMillis(v.Created), toMillis(v.Updated), v.Archived)
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
	return v, n, nil
}

// Get gives one session, or ErrNotFound.
func (s *Store) Get(ctx context.Context, id string) (Session, error) {
	var v Session
	found := false
	err := s.read(ctx, "SELECT "+sessionColumns+" FROM sessions s WHERE s.id = ?", []any{id}, func(scan func(...any) error) error {
		var err error
		v, err = scanSession(scan)
		found = true
		return err
	})
	if err == nil && !found {
		err = ErrNotFound
	}
	if err != nil {
		return Session{}, fmt.Errorf("session %s: %w", id, err)
	}
	return v, nil
}

// AmbiguousError says that several sessions fit a name or the beginning of an ID.
type AmbiguousError struct {
	Name     string
	Sessions []Session
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%q fits %d sessions: give more of the ID", e.Name, len(e.Sessions))
}

// Find gives the session that a person means by its ID, the beginning or the end of its ID
// (at least 4 characters) or its title in the project, in this order. It gives ErrNotFound,
// or an *AmbiguousError.
func (s *Store) Find(ctx context.Context, projectID, name string) (Session, error) {
	v, err := s.Get(ctx, name)
	if err == nil || !errors.Is(err, ErrNotFound) {
		return v, err
	}
	tries := []struct {
		where string
		args  []any
	}{
		{"s.title = ? AND s.project_id = ? AND s.kind = ''", []any{name, projectID}},
	}
	if utf8.RuneCountInString(name) >= 4 && !strings.ContainsFunc(name, func(r rune) bool { return r != '-' && !unicode.Is(unicode.ASCII_Hex_Digit, r) }) {
		tries = append(tries, struct {
			where string
			args  []any
		}{"s.id LIKE ? OR s.id LIKE ?", []any{strings.ToLower(name) + "%", "%" + strings.ToLower(name)}})
	}
	for _, try := range tries {
		var all []Session
		err := s.read(ctx, "SELECT "+sessionColumns+" FROM sessions s WHERE ("+try.where+") ORDER BY s.updated DESC LIMIT 10", try.args,
			func(scan func(...any) error) error {
				v, err := scanSession(scan)
				all = append(all, v)
				return err
			})
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

// Filter chooses sessions for List.
type Filter struct {
	ProjectID string // only this project's, unless All
	All       bool
	Query     string // words in titles and text; every word must occur, the last may be begun only
	Kind      string // "" = ordinary sessions, KindTask, KindAny
	ParentID  string // only those under this session
	Archived  bool   // archived ones too
	Limit     int    // 0 = all
}

// List gives the sessions that fit, the one used last first.
func (s *Store) List(ctx context.Context, f Filter) ([]Session, error) {
	where, args := f.where()
	if strings.TrimSpace(f.Query) != "" {
		hits, err := s.matchingSessions(ctx, f.Query)
		if err != nil {
			return nil, fmt.Errorf("list sessions: %w", err)
		}
		return s.listHits(ctx, f, where, args, hits)
	}
	query := "SELECT " + sessionColumns + " FROM sessions s" + where + " ORDER BY s.updated DESC, s.n DESC"
	if f.Limit > 0 {
		query += fmt.Sprintf(" LIMIT %d", f.Limit)
	}
	var all []Session
	err := s.read(ctx, query, args, func(scan func(...any) error) error {
		v, err := scanSession(scan)
		all = append(all, v)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	return all, nil
}

// listHits picks the newest of the sessions that a search named. Walking the keys first
// and reading whole rows only for what is shown keeps a keystroke cheap.
func (s *Store) listHits(ctx context.Context, f Filter, where string, args []any, hits map[int64]bool) ([]Session, error) {
	var keys []int64
	stop := errors.New("enough")
	err := s.read(ctx, "SELECT s.n FROM sessions s"+where+" ORDER BY s.updated DESC, s.n DESC", args, func(scan func(...any) error) error {
		var n int64
		if err := scan(&n); err != nil {
			return err
		}
		if hits[n] {
			keys = append(keys, n)
		}
		if f.Limit > 0 && len(keys) >= f.Limit {
			return stop
		}
		return nil
	})
	if err != nil && !errors.Is(err, stop) {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	all := make([]Session, 0, len(keys))
	for chunk := range chunks(keys, 200) {
		marks := strings.TrimSuffix(strings.Repeat("?,", len(chunk)), ",")
		err := s.read(ctx, "SELECT "+sessionColumns+" FROM sessions s WHERE s.n IN ("+marks+") ORDER BY s.updated DESC, s.n DESC", anys(chunk),
			func(scan func(...any) error) error {
				v, err := scanSession(scan)
				all = append(all, v)
				return err
			})
		if err != nil {
			return nil, fmt.Errorf("list sessions: %w", err)
		}
	}
	return all, nil
}

func chunks(keys []int64, size int) func(yield func([]int64) bool) {
	return func(yield func([]int64) bool) {
		for len(keys) > 0 {
			n := min(size, len(keys))
			if !yield(keys[:n]) {
				return
			}
			keys = keys[n:]
		}
	}
}

func anys(keys []int64) []any {
	out := make([]any, len(keys))
	for i, k := range keys {
		out[i] = k
	}
	return out
}

func (f Filter) where() (string, []any) {
	var terms []string
	var args []any
	add := func(term string, a ...any) { terms, args = append(terms, term), append(args, a...) }
	if !f.All {
		add("s.project_id = ?", f.ProjectID)
	}
	if f.Kind != KindAny {
		add("s.kind = ?", f.Kind)
	}
	if f.ParentID != "" {
		add("s.parent_id = ?", f.ParentID)
	}
	if !f.Archived {
		add("s.archived = 0")
	}
	if len(terms) == 0 {
		return "", nil
	}
	return " WHERE " + strings.Join(terms, " AND "), args
}

// Latest gives the project's session that was used last, or ErrNotFound.
func (s *Store) Latest(ctx context.Context, projectID string) (Session, error) {
	all, err := s.List(ctx, Filter{ProjectID: projectID, Limit: 1})
	if err != nil {
		return Session{}, err
	}
	if len(all) == 0 {
		return Session{}, fmt.Errorf("latest session: %w", ErrNotFound)
	}
	return all[0], nil
}

// Change names what Update sets; nil leaves a field as it is.
type Change struct {
	Model        *string
	Mode         *string
	RoleName     *string
	RoleSnapshot *string
	Cwd          *string
	Archived     *bool
}

// Update changes a session's settings.
func (s *Store) Update(ctx context.Context, id string, c Change) error {
	err := s.write(ctx, func(t *tx) error {
		res, err := t.exec(`UPDATE sessions SET model = coalesce(?, model), mode = coalesce(?, mode),
			role_name = coalesce(?, role_name), role_snapshot = coalesce(?, role_snapshot),
			cwd = coalesce(?, cwd), archived = coalesce(?, archived), updated = ? WHERE id = ?`,
			c.Model, c.Mode, c.RoleName, c.RoleSnapshot, c.Cwd, c.Archived, toMillis(s.now()), id)
		return affected(res, err)
	})
	if err != nil {
		return fmt.Errorf("update session %s: %w", id, err)
	}
	return nil
}

// Rename gives a session the person's title, which automatic titles never replace.
func (s *Store) Rename(ctx context.Context, id, title string) error {
	_, err := s.setTitle(ctx, id, title, TitleUser)
	return err
}

// SetAutoTitle gives a session an automatic title unless a person named it, and reports
// whether it did.
func (s *Store) SetAutoTitle(ctx context.Context, id, title string) (bool, error) {
	return s.setTitle(ctx, id, title, TitleAuto)
}

func (s *Store) setTitle(ctx context.Context, id, title, source string) (bool, error) {
	title = ShortTitle(title)
	if title == "" {
		return false, fmt.Errorf("rename session %s: the title is empty", id)
	}
	done := false
	err := s.write(ctx, func(t *tx) error {
		var n int64
		var old, oldSource string
		if err := t.row("SELECT n, title, title_source FROM sessions WHERE id = ?", []any{id}, &n, &old, &oldSource); err != nil {
			return err
		}
		if source == TitleAuto && oldSource == TitleUser {
			return nil
		}
		done = true
		return t.title(n, title, source)
	})
	if err != nil {
		return false, fmt.Errorf("rename session %s: %w", id, err)
	}
	return done, nil
}

func (t *tx) title(n int64, title, source string) error {
	if _, err := t.exec("UPDATE sessions SET title = ?, title_source = ? WHERE n = ?", title, source, n); err != nil {
		return err
	}
	return t.index(n<<seqBits, title)
}

const titleRunes = 80

// ShortTitle makes a title of one line from any text: its first line with a letter or
// digit, blanks folded, control characters dropped, at most 80 characters.
func ShortTitle(text string) string {
	line := ""
	for l := range strings.Lines(text) {
		if strings.ContainsFunc(l, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }) {
			line = l
			break
		}
		if line == "" {
			line = strings.TrimSpace(l)
		}
		if len(l) > 1<<16 {
			break
		}
	}
	var b strings.Builder
	count, blank := 0, false
	for _, r := range line {
		if unicode.IsSpace(r) {
			blank = true
			continue
		}
		if r == utf8.RuneError || unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			continue
		}
		if blank && b.Len() > 0 {
			b.WriteByte(' ')
			count++
		}
		blank = false
		if count >= titleRunes-1 {
			b.WriteRune('…')
			break
		}
		b.WriteRune(r)
		count++
	}
	return b.String()
}

// Delete removes a session with all that belongs to it, and its sub-agents' sessions.
func (s *Store) Delete(ctx context.Context, id string) error {
	err := s.write(ctx, func(t *tx) error {
		var n int64
		if err := t.row("SELECT n FROM sessions WHERE id = ?", []any{id}, &n); err != nil {
			return err
		}
		if err := t.deleteTree(n, id); err != nil {
			return err
		}
		return t.sweepBlobs()
	})
	if err != nil {
		return fmt.Errorf("delete session %s: %w", id, err)
	}
	return nil
}

func (t *tx) deleteTree(n int64, id string) error {
	type child struct {
		n  int64
		id string
	}
	var children []child
	err := t.each("SELECT n, id FROM sessions WHERE parent_id = ? AND kind = ?", []any{id, KindTask}, func(scan func(...any) error) error {
		var c child
		err := scan(&c.n, &c.id)
		children = append(children, c)
		return err
	})
	if err != nil {
		return err
	}
	// The row goes first: a circle of parents ends then.
	for _, q := range []struct {
		sql string
		arg any
	}{
		{"DELETE FROM search WHERE rowid >= ?1 << 24 AND rowid < (?1 + 1) << 24", n},
		{"DELETE FROM drafts WHERE key = ?", id},
		{"DELETE FROM grants WHERE scope = 'session' AND session_id = ?", id},
		{"DELETE FROM sessions WHERE n = ?", n},
	} {
		if _, err := t.exec(q.sql, q.arg); err != nil {
			return err
		}
	}
	for _, c := range children {
		if err := t.deleteTree(c.n, c.id); err != nil {
			return err
		}
	}
	return nil
}

func affected(res interface{ RowsAffected() (int64, error) }, err error) error {
	if err != nil {
		return err
	}
	n, err := res.RowsAffected()
	if err != nil {
		return err
	}
	if n == 0 {
		return ErrNotFound
	}
	return nil
}
