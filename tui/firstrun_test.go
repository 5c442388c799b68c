//go:build linux || darwin

package tui

import (
	"context"
	"errors"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"jcode/tools/command"
	"jcode/tui/front"
	"jcode/tui/tuitest"
)

// An address is completed and asked for before a key is: what is wrong with it is said where it was entered,
// and it stays there to be put right.
func TestAWrongAddressIsSaidWhereItWasEntered(t *testing.T) {
	t.Parallel()
	p, _ := still(t, 80, 30, func(o *front.Options) {
		o.Login = &front.FirstRun{
			FindServer: func(_ context.Context, address string) (string, error) {
				if address != "localhost:8000" {
					return "", errors.New("nothing answers there")
				}
				return "http://localhost:8000/v1", nil
			},
			EnterServer: func(context.Context, string, string) (command.Row, error) { return command.Row{}, nil },
		}
	})
	enter := tea.KeyPressMsg{Code: tea.KeyEnter}
	settleCmd(p, p.panels.login())
	settleCmd(p, p.route(enter))
	p.paste("localhost:800")
	settleCmd(p, p.route(enter))
	if s := tuitest.Stripped(p.frameText()); !strings.Contains(s, "✗ nothing answers there") || !strings.Contains(s, "address: localhost:800") || strings.Contains(s, "Key for") {
		t.Errorf("the wrong address:\n%s", s)
	}
	p.paste("0")
	settleCmd(p, p.route(enter))
	if s := tuitest.Stripped(p.frameText()); !strings.Contains(s, "Key for http://localhost:8000/v1") {
		t.Errorf("the right address:\n%s", s)
	}
}
