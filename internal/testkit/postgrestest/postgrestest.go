// Package postgrestest runs a real Postgres for the tests of a package: one server, with a database for each test.
// Without the programs of Postgres such tests are skipped.
package postgrestest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	_ "github.com/lib/pq" // the driver
)

// Server is a running Postgres.
type Server struct {
	bin     string // folder of its programs
	dir     string
	user    string // that it runs as, "" for this one
	options string
	// guard ends the server when its input, lives, does.
	guard *exec.Cmd
	lives io.Closer
	made  atomic.Int64
}

// Servers is the server of a package's tests, which is started by the first test that wants it.
type Servers struct {
	// Options are more options of the server, such as "-c max_connections=500".
	Options string

	once   sync.Once
	server *Server
	err    error
}

// errNone says that there is no Postgres here.
var errNone = errors.New("the programs of Postgres are not here: scripts/install-postgres installs them")

// Of returns the server. The test is skipped where there is no Postgres.
func (s *Servers) Of(t testing.TB) *Server {
	t.Helper()
	s.once.Do(func() { s.server, s.err = start(s.Options) })
	if errors.Is(s.err, errNone) {
		t.Skip(s.err)
	}
	if s.err != nil {
		t.Fatal(s.err)
	}
	return s.server
}

// Stop ends the server, if one was started; TestMain does that.
func (s *Servers) Stop() {
	s.once.Do(func() { s.err = errNone })
	if s.server != nil {
		_ = s.server.lives.Close()
		_ = s.server.guard.Wait() // it says nothing that counts now
	}
}

// Run runs the tests of a package and ends the server: for TestMain.
func (s *Servers) Run(m *testing.M) int {
	defer s.Stop()
	return m.Run()
}

// folder returns where the programs of Postgres are, the newest ones first.
func folder() (string, error) {
	if path, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(path), nil
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil || len(found) == 0 {
		return "", errNone
	}
	version := func(path string) int {
		n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path)))) // 0 comes last
		return n
	}
	newest := slices.MaxFunc(found, func(a, b string) int { return version(a) - version(b) })
	return filepath.Dir(newest), nil
}

func start(options string) (_ *Server, err error) {
	s := &Server{options: options}
	if s.bin, err = folder(); err != nil {
		return nil, err
	}
	if s.dir, err = os.MkdirTemp("", "pg-"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(s.dir))
		}
	}()
	if os.Getuid() == 0 { // it refuses to run as root
		owner, err := user.Lookup("postgres")
		if err != nil {
			return nil, errNone
		}
		uid, errID := strconv.Atoi(owner.Uid)
		gid, errGroup := strconv.Atoi(owner.Gid)
		if err := errors.Join(errID, errGroup, os.Chown(s.dir, uid, gid), os.Chmod(s.dir, 0o755)); err != nil {
			return nil, err
		}
		s.user = owner.Username
	}
	if err := s.run("initdb", "-D", s.data(), "-A", "trust", "-U", "postgres", "-E", "UTF8", "--no-sync"); err != nil {
		return nil, err
	}
	if err := s.guarded(); err != nil {
		return nil, err
	}
	return s, s.Start()
}

// guarded has a shell end the server when this process does, however that ends.
func (s *Server) guarded() (err error) {
	stop := append(s.as(), filepath.Join(s.bin, "pg_ctl"), "stop", "-D", s.data(), "-s", "-m", "immediate")
	s.guard = exec.CommandContext(context.Background(), "sh", append([]string{"-c", `dir=$1; shift; cat >/dev/null; "$@"; rm -rf "$dir"`, "sh", s.dir}, stop...)...)
	if s.lives, err = s.guard.StdinPipe(); err != nil {
		return err
	}
	return s.guard.Start()
}

// as begins a command line that runs as the user who may.
func (s *Server) as() []string {
	if s.user == "" {
		return nil
	}
	return []string{"runuser", "-u", s.user, "--"}
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

// run runs a program of Postgres as the user who may.
func (s *Server) run(name string, args ...string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	line := append(append(s.as(), filepath.Join(s.bin, name)), args...)
	cmd := exec.CommandContext(ctx, line[0], line[1:]...)
	cmd.Dir = s.dir
	said := &strings.Builder{}
	if name == "initdb" {
		cmd.Stdout, cmd.Stderr = said, said
	}
	if err := cmd.Run(); err != nil {
		log, _ := os.ReadFile(filepath.Join(s.dir, "log")) // there may be none
		return fmt.Errorf("%s: %w\n%s%s", name, err, said, log)
	}
	return nil
}

func (s *Server) control(verb string, args ...string) error {
	return s.run("pg_ctl", append([]string{verb, "-D", s.data(), "-s", "-w"}, args...)...)
}

// Start starts the server again after Halt.
func (s *Server) Start() error {
	return s.control("start", "-l", filepath.Join(s.dir, "log"),
		"-o", fmt.Sprintf("-c listen_addresses= -c unix_socket_directories=%s -c fsync=off -c shared_buffers=16MB -c max_connections=200 -c autovacuum=off %s", s.dir, s.options))
}

// Halt ends the server as a crash does.
func (s *Server) Halt() error { return s.control("stop", "-m", "immediate") }

// URL returns the address of a database for a user.
func (s *Server) URL(user, database string) string {
	u := url.URL{Scheme: "postgres", User: url.User(user), Path: "/" + database, RawQuery: url.Values{"host": {s.dir}}.Encode()}
	return u.String()
}

// Database makes a database for a test, and returns its address.
func (s *Server) Database(t testing.TB) string {
	t.Helper()
	name := fmt.Sprintf("test%d", s.made.Add(1))
	s.Exec(t, s.URL("postgres", "postgres"), "CREATE DATABASE "+name)
	return s.URL("postgres", name)
}

// Exec runs SQL in a database.
func (s *Server) Exec(t testing.TB, address, text string) {
	t.Helper()
	db, err := sql.Open("postgres", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }() // it has run
	if _, err := db.ExecContext(t.Context(), text); err != nil {
		t.Fatal(err)
	}
}
