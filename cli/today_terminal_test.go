//go:build linux || darwin

package cli_test

import (
	"strings"
	"testing"

	"jcode/internal/testkit/modeltest"
)

func TestOnlyASingleRunIsToldThatNobodyAnswers(t *testing.T) {
	c := newChat(t, modeltest.Text("One."))
	c.start()
	c.say("hello")
	c.wait("One.")
	home := t.TempDir()
	srv := modeltest.New(t, modeltest.Text("Two."))
	if code, _, errs := once(t, home, "-p", "x", "-m", "m", "--base-url", srv.URL()); code != 0 {
		t.Fatalf("exit %d: %s", code, errs)
	}
	for _, s := range []struct {
		reqs []modeltest.Request
		want bool
	}{{c.turns(c.srv.Requests()), false}, {srv.Requests(), true}} {
		system := s.reqs[0].Messages[0].Content
		if strings.Contains(system, "Nobody answers") != s.want || !strings.Contains(system, "git reset --hard") {
			t.Errorf("%v: %s", s.want, system)
		}
	}
}

func TestJcodeSaysWhereItsPricesAreFrom(t *testing.T) {
	t.Chdir(t.TempDir())
	code, out, errs := once(t, t.TempDir(), "models")
	if code != 0 || !strings.Contains(out, "2026-07") || !strings.Contains(out, "search excerpts") || !strings.Contains(out, "jcode models update") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
}
