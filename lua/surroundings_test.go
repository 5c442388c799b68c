package lua

import (
	"errors"
	"testing"

	"jcode/lua/wire"
)

// beside is what there is beside a script.
type beside []*script

func (b beside) scripts() []*script    { return b }
func (beside) slots() map[string]*slot { return nil }

func TestScriptsKnowEachOtherByName(t *testing.T) {
	t.Parallel()
	notes := &script{id: "notes", fqn: "lua::notes", owner: "plugin:notes", live: registered{
		intents:  []*intent{{name: "note", fqn: "lua::notes", operation: "add"}},
		commands: []*luaCommand{{name: "note"}},
	}}
	own := &script{id: "own", fqn: "lua::own", owner: "plugin:own"}
	around := &surroundings{held: beside{notes, own}, opts: Options{ProjectID: "p", CommandTaken: func(name string) bool { return name == "quit" }}}
	for name, want := range map[string]string{"note": "plugin:notes", "quit": "jcode", "free": ""} {
		if got := around.commandOwner(name, own); got != want {
			t.Errorf("/%s belongs to %q, want %q", name, got, want)
		}
	}
	for fqn, want := range map[string]struct{ refused, dead bool }{
		"lua::own":   {},
		"lua::notes": {refused: true},
		"lua::later": {dead: true},
	} {
		i := &intent{fqn: fqn}
		if err := around.claimFQN(own, i); (err != nil) != want.refused || i.dead != want.dead {
			t.Errorf("an intent for %s: %v, dead %v", fqn, err, i.dead)
		}
	}
	for scope, want := range map[string]string{"project": "project-p/x", "user": "user/x"} {
		if got := around.stateOf(&slot{name: "x", root: toolRoot{scope: scope}}); got != want {
			t.Errorf("%s: values are in %s, want %s", scope, got, want)
		}
	}
	if reply, fail := around.rpc(t.Context(), rpcCall{fqn: "lua::nobody"}); fail != nil || reply.Bool("success") {
		t.Errorf("a request to nobody: %v, %v", wire.NewObject("reply", reply), fail)
	}
}

func TestAFolderTellsOnceThatItDoesNotLoad(t *testing.T) {
	t.Parallel()
	s := &slot{name: "greet", cur: &version{broken: errors.New("line 3")}}
	for i, want := range []string{"lua greet: line 3", "", "lua greet: loads again", ""} {
		if i == 2 {
			s.cur = &version{}
		}
		if _, text := s.news(); text != want {
			t.Errorf("%d: says %q, want %q", i, text, want)
		}
	}
}
