package page

import (
	"context"
	"crypto/tls"
	"embed"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"jcode/internal/watch"
	"jcode/remote"
	"jcode/session/export"
)

//go:embed static
var static embed.FS

// Options describe a server.
type Options struct {
	// Place is where the processes with sessions are found.
	Place   remote.Place
	Devices *Devices
	Codes   *Codes
	// Stored are the sessions that are not open; nil shows none.
	Stored Stored
	// Begin begins a session in the background, and returns its ID; nil begins none.
	Begin func(ctx context.Context, folder, prompt string) (session string, err error)
	// Editor speaks the Agent Client Protocol with an editor, a message a line, until the input ends; nil speaks with none.
	Editor func(ctx context.Context, v Device, in io.Reader, out io.Writer) error
	// Queue is the tasks that wait for workers; nil shows none.
	Queue Queue
	// Public is the origin under which a proxy offers the page, "" without one. Names are those that the certificate
	// is for.
	Public string
	Names  []string
	// Certificate makes the server speak TLS; nil is plain http.
	Certificate *tls.Certificate
	// Said receives a line for the user: a device was paired. May be nil.
	Said func(string)
}

// Stored reads sessions that are not open.
type Stored interface {
	// List returns the last ones, the one used last first.
	List(ctx context.Context) ([]Kept, error)
	// Read returns one as the lines of its events.
	Read(ctx context.Context, id string) (Kept, []json.RawMessage, error)
	// Search returns sessions that contain all words, the newest first.
	Search(ctx context.Context, words string) ([]Found, error)
	// Export returns a session as a document: md, html or json.
	Export(ctx context.Context, id, format string) (string, error)
	// Folders returns the folders in which jcode was used and that are there, the one used last first.
	Folders(ctx context.Context) ([]string, error)
}

// Found is a place in a session that a search found.
type Found struct {
	Kept
	Snippet string
}

// Kept is a session that is not open.
type Kept struct {
	ID, Title, Folder, Model, Mode string
	Used                           time.Time
}

// The limits of the server.
const (
	maxConnections = 256
	maxStreams     = 24 // requests of a device at the same time
	headerWithin   = 5 * time.Second
	bodyWithin     = 30 * time.Second
	answerWithin   = time.Minute
	picturesWithin = 5 * time.Minute // of a paired device
	idleWithin     = time.Minute
	settled        = 50 * time.Millisecond
)

// Server serves the page. Its methods are safe for concurrent use.
type Server struct {
	opt   Options
	http  *http.Server
	live  requests
	feeds feeds
	ctx   context.Context // ends with the server
	stop  context.CancelFunc
	tasks sync.WaitGroup
}

// NewServer returns a server. The caller closes it.
func NewServer(opt Options) *Server {
	ctx, stop := context.WithCancel(context.Background())
	s := &Server{opt: opt, ctx: ctx, stop: stop, feeds: feeds{place: opt.Place}}
	s.http = &http.Server{
		Handler: s.guard(s.routes()), BaseContext: func(net.Listener) context.Context { return ctx }, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError), // what a stranger sends belongs nowhere

		ReadHeaderTimeout: headerWithin, ReadTimeout: bodyWithin, WriteTimeout: answerWithin, IdleTimeout: idleWithin, MaxHeaderBytes: maxHeader,
	}
	if opt.Certificate != nil {
		s.http.TLSConfig = &tls.Config{Certificates: []tls.Certificate{*opt.Certificate}, MinVersion: tls.VersionTLS12}
	}
	s.tasks.Go(func() { s.endRevoked(ctx) })
	return s
}

// endRevoked ends what devices do that another process revokes.
func (s *Server) endRevoked(ctx context.Context) {
	w := watch.New(ctx, []watch.Root{{Path: s.opt.Place.Dir, Match: func(path string) bool { return filepath.Base(path) == devicesFile }}}, watch.Options{Debounce: settled})
	defer w.Close()
	for {
		select {
		case _, ok := <-w.Events():
			if !ok {
				return
			}
			s.EndRevoked()
		case <-ctx.Done():
			return
		}
	}
}

// EndRevoked ends the requests and sessions of devices that are not paired any more.
func (s *Server) EndRevoked() {
	list, err := s.opt.Devices.List()
	if err != nil {
		list = nil // what can't be read lets nobody in
	}
	keep := func(id string) bool { return slices.ContainsFunc(list, func(v Device) bool { return v.ID == id }) }
	s.live.endUnless(keep)
	s.feeds.endUnless(keep, false)
}

// Serve answers until the server is closed or the listener fails.
func (s *Server) Serve(l net.Listener) error {
	l = &limited{Listener: l, slots: make(chan struct{}, maxConnections)}
	var err error
	if s.opt.Certificate != nil {
		err = s.http.ServeTLS(l, "", "")
	} else {
		err = s.http.Serve(l)
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// Close ends everything and waits for it.
func (s *Server) Close() {
	s.stop()
	ctx, cancel := context.WithTimeout(context.Background(), headerWithin)
	defer cancel()
	if s.http.Shutdown(ctx) != nil {
		_ = s.http.Close() // what is left is cut off
	}
	s.feeds.endUnless(func(string) bool { return false }, true)
	s.tasks.Wait()
}

// limited closes the connections that are too many.
type limited struct {
	net.Listener
	slots chan struct{}
}

// Accept returns the next connection that is not too many.
func (l *limited) Accept() (net.Conn, error) {
	for {
		nc, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		select {
		case l.slots <- struct{}{}:
			return &counted{Conn: nc, done: sync.OnceFunc(func() { <-l.slots })}, nil
		default:
			_ = nc.Close() // nobody is told
		}
	}
}

// counted gives its slot back when it is closed.
type counted struct {
	net.Conn
	done func()
}

// Close ends the connection.
func (c *counted) Close() error {
	defer c.done()
	return c.Conn.Close()
}

// routes are the addresses of the page. Each device has a folder of its own.
func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) { s.askCode(w, http.StatusOK, "") })
	mux.HandleFunc("POST /pair", s.pair)
	mux.HandleFunc("GET /page.css", serveStyle)
	mux.HandleFunc("GET /page.js", serveScript)
	mux.HandleFunc("GET /favicon.ico", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	mux.Handle("GET /d/{device}/{$}", s.paired(s.list))
	mux.Handle("GET /d/{device}/events", s.paired(s.followList))
	mux.Handle("GET /d/{device}/s/{session}", s.paired(s.session))
	mux.Handle("GET /d/{device}/s/{session}/events", s.paired(s.follow))
	mux.Handle("GET /d/{device}/s/{session}/more", s.paired(s.more))
	mux.Handle("GET /d/{device}/s/{session}/rewind", s.part(drawRewind))
	mux.Handle("GET /d/{device}/s/{session}/agents/{name}", s.part(drawAgent))
	mux.Handle("GET /d/{device}/s/{session}/files", s.paired(s.files))
	mux.Handle("GET /d/{device}/s/{session}/search", s.paired(s.find))
	mux.Handle("POST /d/{device}/s/{session}/{what}", s.paired(s.act))
	if s.opt.Editor != nil {
		mux.HandleFunc("GET /acp", s.tracked(s.editor))
	}
	if s.opt.Stored != nil {
		mux.Handle("GET /d/{device}/search", s.paired(s.search))
		mux.Handle("GET /d/{device}/s/{session}/export/{format}", s.paired(s.export))
	}
	if s.opt.Queue != nil {
		mux.Handle("GET /d/{device}/tasks", s.paired(s.listTasks))
		mux.Handle("GET /d/{device}/tasks/{task}", s.paired(s.showTask))
		mux.Handle("POST /d/{device}/tasks/{task}/{what}", s.paired(s.actOnTask))
	}
	if s.opt.Begin != nil && s.opt.Stored != nil {
		mux.Handle("GET /d/{device}/new", s.paired(s.askNew))
		mux.Handle("POST /d/{device}/new", s.paired(s.begin))
	}
	return mux
}

// tracked lets Close wait for a request whose connection is taken over.
func (s *Server) tracked(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		done := make(chan struct{})
		defer close(done)
		s.tasks.Go(func() { <-done })
		next(w, r)
	}
}

func serveStyle(w http.ResponseWriter, _ *http.Request) {
	own, _ := static.ReadFile("static/page.css") // it is in the program
	w.Header().Set("Content-Type", "text/css; charset=utf-8")
	_, _ = w.Write(append([]byte(export.Style()), own...)) // the browser may be gone
}

func serveScript(w http.ResponseWriter, _ *http.Request) {
	own, _ := static.ReadFile("static/page.js") // as above
	w.Header().Set("Content-Type", "text/javascript; charset=utf-8")
	_, _ = w.Write(own) // as above
}

// view is who looks at a session, and from where.
type view struct {
	home, base string
	may        bool // to do something
	stored     bool // it is not open
	draft      string
	number     string // of the last event that is shown
}

func (s *Server) viewOf(v Device, session string, role remote.Role) view {
	return view{home: homeOf(v), base: baseOf(v, session), may: role == remote.Control && v.Role == remote.Control}
}

// homeOf is the address of a device's list, baseOf that of a session's page for it.
func homeOf(v Device) string                 { return "/d/" + v.ID + "/" }
func baseOf(v Device, session string) string { return homeOf(v) + "s/" + url.PathEscape(session) }
