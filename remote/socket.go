package remote

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"jcode/internal/atomicfile"
	"jcode/internal/filelock"
	"jcode/internal/paths"
	"jcode/internal/system"
)

// Place is the folder in which processes that own sessions are found: a file for each, and the token of this user. Its
// mode is 0700; on Windows its permissions name nobody else.
type Place struct{ Dir string }

// In returns the place of a data folder.
func In(data string) Place { return Place{Dir: filepath.Join(data, "run")} }

// entry is the file of a socket. A process may have several.
type entry struct {
	Name    string    `json:"name"` // of the file, without its end
	Pid     int       `json:"pid"`
	Socket  string    `json:"socket"`
	Started time.Time `json:"started"`
}

const (
	tokenFile  = "token"
	tokenBytes = 32
	suffix     = ".json"
	// maxSocket is how long the path of a socket may be: macOS allows 104 bytes with the end.
	maxSocket = 100
)

// open makes the folder, which only this user may enter, and refuses a link.
func (p Place) open() error {
	if err := os.MkdirAll(p.Dir, 0o700); err != nil {
		return err
	}
	info, err := os.Lstat(p.Dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is no folder", p.Dir)
	}
	return keepFromOthers(p.Dir, info)
}

// Token returns the token of this user, which is made at the first call.
func (p Place) Token() (string, error) {
	if err := p.open(); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(context.Background(), dialWithin)
	defer cancel()
	lock, err := filelock.Wait(ctx, filepath.Join(p.Dir, tokenFile+".lock"))
	if err != nil {
		return "", err
	}
	defer func() { _ = lock.Unlock() }() // it goes with the process anyway
	path := filepath.Join(p.Dir, tokenFile)
	data, err := paths.ReadFile(path, 1<<10)
	if token := strings.TrimSpace(string(data)); err == nil && len(token) == hex.EncodedLen(tokenBytes) {
		return token, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	fresh := make([]byte, tokenBytes)
	_, _ = rand.Read(fresh) // it does not fail
	token := hex.EncodeToString(fresh)
	return token, atomicfile.Write(path, []byte(token+"\n"), atomicfile.Options{Perm: 0o600})
}

// Listen opens a socket of this process. Closing the listener removes it. What dead processes left is swept. Where the
// system has no such sockets, as Windows before 2018, the error is errors.ErrUnsupported.
func (p Place) Listen() (net.Listener, error) {
	if err := p.open(); err != nil {
		return nil, err
	}
	p.sweep()
	unique := make([]byte, 4)
	_, _ = rand.Read(unique) // it does not fail
	e := entry{Name: fmt.Sprintf("%d-%x", os.Getpid(), unique), Pid: os.Getpid(), Started: time.Now().UTC()}
	socket := filepath.Join(p.Dir, e.Name+".sock")
	if len(socket) > maxSocket {
		short, err := shortFolder()
		if err != nil {
			return nil, err
		}
		socket = filepath.Join(short, shortName)
	}
	e.Socket = socket
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "unix", socket)
	if errors.Is(err, noSuchSockets) {
		return nil, fmt.Errorf("%w: %w", errors.ErrUnsupported, err)
	}
	if err != nil {
		return nil, err
	}
	file := filepath.Join(p.Dir, e.Name+suffix)
	data, err := json.Marshal(e)
	if err == nil && system.HasModes() { // elsewhere the folder's permissions hold
		err = os.Chmod(socket, 0o600)
	}
	if err == nil {
		err = atomicfile.Write(file, data, atomicfile.Options{Perm: 0o600})
	}
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return &listener{Listener: l, files: []string{file, socket}}, nil
}

// listener removes its files when it is closed.
type listener struct {
	net.Listener
	files []string
}

// Close ends the listening.
func (l *listener) Close() error {
	err := l.Listener.Close()
	for _, f := range l.files {
		if e := os.Remove(f); e != nil && !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	if dir := filepath.Dir(l.files[1]); dir != filepath.Dir(l.files[0]) {
		err = errors.Join(err, os.Remove(dir))
	}
	return err
}

// entries returns the processes that have a file here.
func (p Place) entries() (out []entry, err error) {
	list, err := os.ReadDir(p.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, d := range list {
		if filepath.Ext(d.Name()) != suffix {
			continue
		}
		var e entry
		data, err := paths.ReadFile(filepath.Join(p.Dir, d.Name()), 4<<10)
		if err != nil || json.Unmarshal(data, &e) != nil || d.Name() != e.Name+suffix {
			continue // not ours
		}
		out = append(out, e)
	}
	return out, err
}

// The names of a folder for a socket whose path would be too long, and of the socket.
const (
	shortPrefix = "jcode-"
	shortName   = "s"
)

// shortFolder makes a folder for a socket: of the folders for temporary files the usual one, or the system's where
// that is too long.
func shortFolder() (string, error) {
	parent := ""
	if system.HasModes() && len(filepath.Join(os.TempDir(), shortPrefix+"0000000000", shortName)) > maxSocket {
		parent = "/tmp"
	}
	return os.MkdirTemp(parent, shortPrefix)
}

// sweep removes the files of processes that are gone.
func (p Place) sweep() {
	list, _ := p.entries() // what can't be read is left alone
	for _, e := range list {
		nc, err := dial(context.Background(), e.Socket)
		if err == nil {
			_ = nc.Close()
			continue
		}
		if _, gone := os.Lstat(e.Socket); !errors.Is(err, connectionRefused) && !errors.Is(gone, fs.ErrNotExist) {
			continue
		}
		_ = os.Remove(filepath.Join(p.Dir, e.Name+suffix)) // the next start tries again
		dir := filepath.Dir(e.Socket)
		switch {
		case dir == p.Dir:
			_ = os.Remove(e.Socket) // as above
		case strings.HasPrefix(filepath.Base(dir), shortPrefix) && filepath.Base(e.Socket) == shortName:
			_ = os.Remove(e.Socket) // as above
			_ = os.Remove(dir)      // it holds nothing else
		}
	}
}

// dialWithin is how long a process may take to accept a connection.
const dialWithin = 2 * time.Second

func dial(ctx context.Context, socket string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialWithin)
	defer cancel()
	return (&net.Dialer{}).DialContext(ctx, "unix", socket)
}

// Each connects to every process that owns sessions, one after the other, and calls f with the connection, which f keeps
// if it returns true: then it was the last one.
func (p Place) Each(ctx context.Context, name string, f func(*Client) (keep bool)) error {
	list, err := p.entries()
	if err != nil || len(list) == 0 {
		return err
	}
	token, err := p.Token()
	if err != nil {
		return err
	}
	var errs []error
	for _, e := range list {
		nc, err := dial(ctx, e.Socket)
		if err != nil {
			continue // it has ended
		}
		c, err := Connect(ctx, nc, Hello{Token: token, Name: name}, Handlers{})
		if err != nil {
			errs = append(errs, fmt.Errorf("process %d: %w", e.Pid, err))
			continue
		}
		c.Started = e.Started
		if f(c) {
			return nil
		}
		c.Close()
	}
	return errors.Join(errs...)
}

// processAgain is how often a process that is just starting is looked for.
const processAgain = 5 * time.Millisecond

// Process waits until a process listens, and connects to it. The client is closed by the caller.
func (p Place) Process(ctx context.Context, pid int, name string, h Handlers) (*Client, error) {
	for {
		list, err := p.entries()
		if err != nil {
			return nil, err
		}
		for _, e := range list {
			if e.Pid != pid {
				continue
			}
			nc, err := dial(ctx, e.Socket)
			if err != nil {
				continue // its file is there before it listens, or after
			}
			token, err := p.Token()
			if err != nil {
				return nil, errors.Join(err, nc.Close())
			}
			return Connect(ctx, nc, Hello{Token: token, Name: name}, h)
		}
		select {
		case <-time.After(processAgain):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
