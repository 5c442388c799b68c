package luacli

import (
	"context"
	"errors"
	"strings"
	"testing"

	"jcode/cli/board"
	"jcode/lua"
	"jcode/tools"
	"jcode/tools/permission"
)

// failingTrust is a store of approvals that can't be read while it has an error.
type failingTrust struct{ err error }

func (f *failingTrust) Trusted(context.Context) ([]permission.TrustRow, error) { return nil, f.err }
func (f *failingTrust) AddTrust(context.Context, ...permission.TrustRow) error { return nil }
func (f *failingTrust) RemoveTrust(context.Context, tools.TrustKind, string) (bool, error) {
	return false, f.err
}

// refuses answers no to every question.
type refuses struct{}

func (refuses) Ask(context.Context, tools.Question) (tools.Answer, error) {
	return tools.Answer{Scope: tools.AnswerNo}, nil
}

// Each step of a turn checks the Lua that waits for trust. An error in reading the trust is reported when it
// appears, not at each step.
func TestErrorOfLuasTrustIsSaidOncePerChange(t *testing.T) {
	room, err := lua.New(lua.Options{Registry: tools.NewRegistry(), Dispatcher: &tools.Dispatcher{}, Root: t.TempDir(), NoWatch: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(room.Close)
	var said []string
	store := &failingTrust{}
	s := &Scripts{
		board: &board.Board{Other: func(n board.Notice) { said = append(said, n.Text) }}, room: room,
		trust: permission.NewTrust("project", store, false), asker: func() tools.Asker { return refuses{} },
	}
	waiting := []tools.TrustItem{{Kind: tools.TrustLuaTool, Name: "greet", File: "greet"}}
	for _, step := range []struct {
		fails string
		want  int
	}{{"disk I/O error", 1}, {"disk I/O error", 1}, {"database is locked", 2}, {"database is locked", 2}, {"", 2}, {"database is locked", 3}} {
		store.err = nil
		s.no.Store(false)
		if step.fails != "" {
			store.err = errors.New(step.fails)
		}
		s.ask(t.Context(), waiting)
		if len(said) != step.want || !strings.Contains(said[len(said)-1], "Lua of this project stays off") {
			t.Fatalf("after %q the person was told %q, want %d notices", step.fails, said, step.want)
		}
	}
}
