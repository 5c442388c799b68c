package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"jcode/agent/model"
	mcpcli "jcode/cli/mcp"
	modelscli "jcode/cli/models"
	"jcode/cli/tour"
	"jcode/mcp/auth"
)

// decidePatience is how long the tour's model waits for a person to decide about a sign-in.
const decidePatience = 10 * time.Minute

// tourPlay is what the tour needs beyond an ordinary run.
type tourPlay struct {
	script []byte
	pace   time.Duration
	env    map[string]string // for shell commands
	board  *tour.Board

	once     sync.Once
	declined chan struct{} // closed when the person doesn't sign in
}

// newTourApp is newApp for the tour.
func newTourApp(ctx context.Context, f *flags, std Streams, play *tourPlay) (*app, error) {
	play.declined = make(chan struct{})
	a, err := (&app{flags: f, std: std, tour: play, env: play.env}).open(ctx)
	if err != nil {
		return nil, err
	}
	a.models.Play(modelscli.Script{Text: play.script, Pace: play.pace, Hold: play.hold})
	return a, nil
}

// person signs in to the tour's server: in the chat the real person, with a simulated browser; in a printed
// tour a simulated person.
func (p *tourPlay) person(a *app, chat mcpcli.ChatPerson) auth.Person {
	chat.Browse = p.board.Browse
	if a.flags.Print {
		return tourPerson{p, playedPerson{a.std.Err, p.board}}
	}
	return tourPerson{p, chat}
}

// tourPerson notices when a sign-in fails.
type tourPerson struct {
	play *tourPlay
	auth.Person
}

// Visit implements auth.Person.
func (t tourPerson) Visit(ctx context.Context, v auth.Visit) (string, error) {
	pasted, err := t.Person.Visit(ctx, v)
	if err != nil && (ctx.Err() == nil || errors.Is(err, auth.ErrDeclined)) {
		t.play.once.Do(func() { close(t.play.declined) })
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

// hold makes the tour's model wait, after it has heard that a server needs a sign-in, until the person has
// decided: its next words depend on that.
func (p *tourPlay) hold(ctx context.Context, req *model.Request) {
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
