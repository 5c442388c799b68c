package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"jcode/agent/model"
	mcpcli "jcode/cli/mcp"
	"jcode/cli/tour"
	"jcode/mcp/auth"
)

// decidePatience is how long the tour's model waits for a person to decide about a sign-in.
const decidePatience = 10 * time.Minute

// Play is what the tour needs beyond an ordinary run.
type Play struct {
	Script []byte
	Pace   time.Duration
	Env    map[string]string        // for shell commands
	Getenv func(name string) string // the environment of the tour's jcode

	board    *tour.Board
	printed  bool
	notes    io.Writer
	once     sync.Once
	declined chan struct{} // closed when the person doesn't sign in
}

// newPlay returns what a tour with a home of its own needs.
func newPlay(std Setup, board *tour.Board, home, jcode string) *Play {
	getenv := std.Getenv
	return &Play{
		Env: map[string]string{"JCODE_HOME": home, "PATH": filepath.Dir(jcode) + string(os.PathListSeparator) + getenv("PATH")},
		Getenv: func(name string) string {
			switch name {
			case "JCODE_HOME":
				return home
			case "JCODE_RECORD", "JCODE_MODEL", "OPENAI_BASE_URL":
				return ""
			}
			return getenv(name)
		},
		board: board, printed: std.Print, notes: std.Err, declined: make(chan struct{}),
	}
}

// Person signs in to the tour's server: in the chat the real person, with a simulated browser; in a printed
// tour a simulated person.
func (p *Play) Person(chat mcpcli.ChatPerson) auth.Person {
	chat.Browse = p.board.Browse
	if p.printed {
		return watchedPerson{p, playedPerson{p.notes, p.board}}
	}
	return watchedPerson{p, chat}
}

// watchedPerson notices when a sign-in fails.
type watchedPerson struct {
	play *Play
	auth.Person
}

// Visit implements auth.Person.
func (p watchedPerson) Visit(ctx context.Context, v auth.Visit) (string, error) {
	pasted, err := p.Person.Visit(ctx, v)
	if err != nil && (ctx.Err() == nil || errors.Is(err, auth.ErrDeclined)) {
		p.play.once.Do(func() { close(p.play.declined) })
	}
	return pasted, err
}

// playedPerson signs in at once, and says so.
type playedPerson struct {
	notes io.Writer
	board *tour.Board
}

// Visit implements auth.Person: the browser's callback ends ctx.
func (p playedPerson) Visit(ctx context.Context, v auth.Visit) (string, error) {
	fmt.Fprintf(p.notes, "jcode: sign-in played: %s\n", strings.ReplaceAll(mcpcli.VisitText(v), "\n", "; "))
	if err := p.board.Browse(ctx, v.URL); err != nil {
		return "", err
	}
	<-ctx.Done()
	return "", ctx.Err()
}

// Hold makes the tour's model wait, after it has heard that a server needs a sign-in, until the person has
// decided: its next words depend on that.
func (p *Play) Hold(ctx context.Context, req *model.Request) {
	if n := len(req.Messages); n == 0 || req.Messages[n-1].Role != model.RoleTool || !strings.Contains(req.Messages[n-1].Text, "needs sign-in") {
		return
	}
	limit := time.NewTimer(decidePatience)
	defer limit.Stop()
	select {
	case <-p.board.SignedIn():
	case <-p.declined:
	case <-limit.C:
	case <-ctx.Done():
	}
}
