package credential

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"jcode/agent/model/provider"
	"jcode/internal/launch"
	"jcode/internal/secret"
	"jcode/internal/text"
)

// The limits of a command that writes a key.
const (
	commandLimit = 60 * time.Second
	maxKey       = 64 << 10
	// early is how long before its end a key is replaced.
	early = 30 * time.Second
)

// runner runs a command that writes a key, and keeps what it wrote until that expires.
type runner struct {
	provider string
	args     []string
	programs launch.Programs
	now      func() time.Time

	turn chan struct{} // holds one token while nobody looks at what follows, so that a wait for it can end
	held written
}

func newRunner(name string, args []string, programs launch.Programs) *runner {
	r := &runner{provider: name, args: args, programs: programs, now: time.Now, turn: make(chan struct{}, 1)}
	r.turn <- struct{}{}
	return r
}

// get returns what the command wrote, now or earlier.
func (r *runner) get(ctx context.Context) (written, error) {
	select {
	case <-r.turn:
	case <-ctx.Done():
		return written{}, context.Cause(ctx)
	}
	defer func() { r.turn <- struct{}{} }()
	if r.held.set() && !r.held.expired(r.now()) {
		return r.held, nil
	}
	out, err := r.run(ctx)
	if err != nil {
		return written{}, err
	}
	w, err := read(out, r.now())
	if err != nil {
		return written{}, fail("%s: the key command (%s) %s", r.provider, r.name(), err)
	}
	r.held = w
	return w, nil
}

// forget makes the next get run the command if the key is the one that is held, and reports whether a newer one may be
// had: it was forgotten, or another one is held by now.
func (r *runner) forget(key string) bool {
	<-r.turn
	defer func() { r.turn <- struct{}{} }()
	if r.held.name() == key {
		r.held = written{}
	}
	return key != ""
}

// secrets returns what the command wrote last, if nobody waits for it just now.
func (r *runner) secrets() []string {
	select {
	case <-r.turn:
		defer func() { r.turn <- struct{}{} }()
		return r.held.secrets()
	default:
		return nil
	}
}

// run runs the command in the person's home, with their environment. What it writes is never part of an error.
func (r *runner) run(ctx context.Context) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, commandLimit)
	defer cancel()
	cmd, err := r.programs.Own(ctx, r.args[0], r.args[1:]...)
	if err != nil {
		return nil, fail("%s: the key command does not run: %v: correct providers.%s.key_command", r.provider, err, r.provider)
	}
	if home, err := os.UserHomeDir(); err == nil {
		cmd.Dir = home
	}
	var out, said bounded
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &out, &said, 2*time.Second
	if err := cmd.Run(); err != nil {
		switch {
		case errors.Is(context.Cause(ctx), context.DeadlineExceeded):
			return nil, fail("%s: the key command (%s) took longer than %s: run it in a terminal, it may wait for an answer", r.provider, r.name(), commandLimit)
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		}
		return nil, fail("%s: the key command (%s) failed: %v%s", r.provider, r.name(), err, said.line())
	}
	return out.Bytes(), nil
}

// name names the command without its arguments, which may hold what is secret.
func (r *runner) name() string { return filepath.Base(r.args[0]) }

// bounded keeps the beginning of what is written.
type bounded struct{ bytes.Buffer }

func (b *bounded) Write(p []byte) (int, error) {
	if room := maxKey - b.Len(); room > 0 {
		b.Buffer.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

// ReadFrom hides that of the buffer, which knows no bound.
func (b *bounded) ReadFrom(from io.Reader) (int64, error) {
	return io.Copy(struct{ io.Writer }{b}, from)
}

// line returns the first line, as the end of a sentence.
func (b *bounded) line() string {
	first, _, _ := strings.Cut(strings.TrimSpace(b.String()), "\n")
	if first == "" {
		return ""
	}
	words := strings.Fields(first)
	for i, w := range words {
		if secret.Value(w) {
			words[i] = secret.Mark
		}
	}
	return ": " + text.Ellipsis(text.Visible(strings.Join(words, " ")), 200)
}

// command is a source for a key that a command writes.
type command struct {
	*runner
	header string
}

func newCommand(cfg provider.Config) *command {
	return &command{newRunner(cfg.Name, cfg.KeyCommand, cfg.Programs), cfg.KeyHeader}
}

// Authorize implements Source: the key is sent in the header that is named, otherwise as a bearer token.
func (c *command) Authorize(ctx context.Context, req *http.Request, _ []byte) error {
	w, err := c.get(ctx)
	switch {
	case err != nil:
		return err
	case w.aws != (awsKeys{}):
		return fail("%s: the key command writes credentials of AWS, which this provider does not use", c.provider)
	}
	sign(req, c.header, w.key)
	return nil
}

// sign puts a key into a request, in the place of any other.
func sign(req *http.Request, header, key string) {
	req.Header.Del("Authorization")
	req.Header.Del("X-Api-Key")
	if header == "" {
		req.Header.Set("Authorization", "Bearer "+key)
		return
	}
	req.Header.Set(header, key)
}

// Again implements Source: a key that is refused is asked for once more.
func (c *command) Again(req *http.Request, resp *http.Response) bool {
	if resp.StatusCode != http.StatusUnauthorized {
		return false
	}
	key := strings.TrimPrefix(req.Header.Get("Authorization"), "Bearer ")
	if c.header != "" {
		key = req.Header.Get(c.header)
	}
	return c.forget(key)
}

// Secrets implements Source.
func (c *command) Secrets() []string { return c.secrets() }
