package servecli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	backgroundcli "jcode/cli/background"
	"jcode/cli/live"
	"jcode/remote"
	"jcode/session"
)

// Pages is what pages are made of: the processes of this user, what is stored, and the terminal (TERM) with which sessions
// begin in the background.
type Pages struct {
	Place remote.Place
	Store *session.Store
	Term  string
}

// begin begins a session in the background.
func (p Pages) begin(ctx context.Context, folder, prompt string) (string, error) {
	if said := strings.TrimSpace(prompt); strings.HasPrefix(said, "/") || strings.HasPrefix(said, "!") {
		return "", errors.New("commands work only at the terminal: begin with what to do, in words")
	}
	begun, err := backgroundcli.Start([]string{"--", prompt}, folder, remote.Size{Cols: 100, Rows: 30}, p.Term)
	if err != nil {
		return "", err
	}
	id, err := begun.Began(ctx, live.Sessions{Place: p.Place, Name: "the page"})
	if err == nil && id == "" {
		err = fmt.Errorf("the session has not begun yet: it may ask something first, in a terminal: jcode attach %d", begun.Pid())
	}
	return id, err
}
