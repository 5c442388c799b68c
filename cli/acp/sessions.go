package acp

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"github.com/coder/acp-go-sdk"

	"jcode/session"
)

// listPage is how many sessions one reply of session/list contains.
const listPage = 100

// place checks the folders and servers of a session.
func (s *server) place(cwd string, dirs []string, servers []clientServer) (Opening, error) {
	for _, dir := range append([]string{cwd}, dirs...) {
		if !filepath.IsAbs(dir) {
			return Opening{}, invalid("the folder %q is not an absolute path", dir)
		}
	}
	o := Opening{Cwd: cwd, Dirs: dirs, Servers: map[string]json.RawMessage{}}
	for i, server := range servers {
		entry, err := server.entry(i)
		if err != nil {
			return o, err
		}
		if _, twice := o.Servers[server.Name]; twice {
			return o, invalid("two MCP servers are called %q", server.Name)
		}
		o.Servers[server.Name] = entry
	}
	return o, nil
}

// open opens a session and keeps it.
func (s *server) open(ctx context.Context, o Opening) (*openSession, error) {
	if s.find(o.ID) != nil {
		return nil, invalid("session %s is open already in this connection", o.ID)
	}
	caps := s.client.capabilities()
	if caps.Fs.ReadTextFile || caps.Fs.WriteTextFile {
		o.Files = files{conn: s.client.conn, session: o.ID, can: caps.Fs}
	}
	w, err := s.host.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	opened := newOpenSession(s.client, o, w)
	s.mu.Lock()
	_, twice := s.sessions[o.ID]
	late := s.ctx.Err() != nil
	if !twice && !late {
		s.sessions[o.ID] = opened
	}
	s.mu.Unlock()
	if twice || late {
		opened.close()
		return nil, invalid("session %s is open already in this connection", o.ID)
	}
	return opened, nil
}

func (s *server) newSession(ctx context.Context, p opening) (any, error) {
	o, err := s.place(p.Cwd, p.Dirs, p.Servers)
	if err != nil {
		return nil, err
	}
	if o.ID, err = session.NewID(); err != nil {
		return nil, err
	}
	o.New = true
	opened, err := s.open(ctx, o)
	if err != nil {
		return nil, err
	}
	return afterwards{acp.NewSessionResponse{SessionId: acp.SessionId(o.ID), ConfigOptions: opened.options(), Modes: opened.modes()}, opened.begin}, nil
}

func (s *server) loadSession(ctx context.Context, p opening) (any, error) {
	opened, err := s.goOn(ctx, p.SessionID, p.Cwd, p.Dirs, p.Servers)
	if err != nil {
		return nil, err
	}
	opened.replay()
	return afterwards{acp.LoadSessionResponse{ConfigOptions: opened.options(), Modes: opened.modes()}, opened.begin}, nil
}

func (s *server) resumeSession(ctx context.Context, p opening) (any, error) {
	opened, err := s.goOn(ctx, p.SessionID, p.Cwd, p.Dirs, p.Servers)
	if err != nil {
		return nil, err
	}
	return afterwards{acp.ResumeSessionResponse{ConfigOptions: opened.options(), Modes: opened.modes()}, opened.begin}, nil
}

// forkSession opens a copy of a session, as far as it is stored: the original is not changed. The copy may be in another
// folder.
func (s *server) forkSession(ctx context.Context, p opening) (any, error) {
	o, err := s.place(p.Cwd, p.Dirs, p.Servers)
	if err != nil {
		return nil, err
	}
	if o.ID, o.New, err = s.host.Fork(ctx, p.SessionID, p.Cwd); err != nil {
		return nil, notFound(err, p.SessionID)
	}
	opened, err := s.open(ctx, o)
	if err != nil {
		if !o.New {
			err = errors.Join(err, s.host.Delete(ctx, o.ID))
		}
		return nil, err
	}
	return afterwards{acp.NewSessionResponse{SessionId: acp.SessionId(o.ID), ConfigOptions: opened.options(), Modes: opened.modes()}, opened.begin}, nil
}

// notFound names a session that does not exist.
func notFound(err error, id string) error {
	if errors.Is(err, session.ErrNotFound) {
		return &acp.RequestError{Code: -32002, Message: fmt.Sprintf("there is no session %q", id)}
	}
	return err
}

// goOn opens a stored session.
func (s *server) goOn(ctx context.Context, id, cwd string, dirs []string, servers []clientServer) (*openSession, error) {
	o, err := s.place(cwd, dirs, servers)
	if err != nil {
		return nil, err
	}
	o.ID = id
	opened, err := s.open(ctx, o)
	return opened, notFound(err, id)
}

// listSessions returns a page of the stored sessions; the cursor is the position of the next one.
func (s *server) listSessions(ctx context.Context, p acp.ListSessionsRequest) (any, error) {
	at := 0
	if p.Cursor != nil && *p.Cursor != "" {
		raw, err := base64.RawURLEncoding.DecodeString(*p.Cursor)
		if err == nil {
			at, err = strconv.Atoi(string(raw))
		}
		if err != nil || at < 0 {
			return nil, invalid("the cursor is none that session/list returned")
		}
	}
	cwd := ""
	if p.Cwd != nil {
		if cwd = *p.Cwd; cwd != "" && !filepath.IsAbs(cwd) {
			return nil, invalid("the folder %q is not an absolute path", cwd)
		}
	}
	rows, err := s.host.List(ctx, cwd)
	if err != nil {
		return nil, err
	}
	out := acp.ListSessionsResponse{Sessions: []acp.SessionInfo{}}
	rows = rows[min(at, len(rows)):]
	if len(rows) > listPage {
		rows = rows[:listPage]
		out.NextCursor = acp.Ptr(base64.RawURLEncoding.EncodeToString([]byte(strconv.Itoa(at + listPage))))
	}
	for _, r := range rows {
		out.Sessions = append(out.Sessions, acp.SessionInfo{
			SessionId: acp.SessionId(r.ID), Cwd: r.Cwd, Title: acp.Ptr(r.Title), UpdatedAt: acp.Ptr(r.Updated.UTC().Format(time.RFC3339)),
		})
	}
	return out, nil
}

// sessionRequest names a session and nothing else.
type sessionRequest struct {
	SessionID string `json:"sessionId"`
}

// Validate is called by decode.
func (r *sessionRequest) Validate() error {
	if r.SessionID == "" {
		return errors.New("sessionId is missing")
	}
	return nil
}

func (s *server) deleteSession(ctx context.Context, p sessionRequest) (any, error) {
	if o := s.take(p.SessionID); o != nil {
		o.close()
	}
	err := s.host.Delete(ctx, p.SessionID)
	if errors.Is(err, session.ErrNotFound) { // deleted already, or never stored
		err = nil
	}
	return struct{}{}, err
}

func (s *server) closeSession(_ context.Context, p sessionRequest) (any, error) {
	o := s.take(p.SessionID)
	if o == nil {
		return nil, s.unknown(p.SessionID)
	}
	o.close()
	return struct{}{}, nil
}

func (s *server) find(id string) *openSession {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sessions[id]
}

// take removes a session from the open ones.
func (s *server) take(id string) *openSession {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.sessions[id]
	delete(s.sessions, id)
	return o
}

func (s *server) unknown(id string) error {
	return invalid("no session %q is open here: session/new, session/load or session/resume opens one", id)
}
