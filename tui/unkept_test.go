//go:build linux || darwin

package tui

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"jcode/agent/event"
	"jcode/session"
	"jcode/tui/front"
	"jcode/tui/tuitest"
)

func TestWhatAFullDiskCannotStoreIsStoredLaterAndToldOnce(t *testing.T) {
	t.Parallel()
	full := true
	var kept []string
	p, _ := still(t, 80, 40, func(o *front.Options) {
		o.Keep = func(_ context.Context, _ string, list []session.Shown) error {
			if full {
				return errors.New("the disk is full")
			}
			for _, v := range list {
				kept = append(kept, string(v.Data))
			}
			return nil
		}
	})
	p.record.Acted = true
	write := func() { settleCmd(p, p.record.changed(p)) }
	p.Say(event.LevelInfo, "first")
	write()
	write() // nothing new: no attempt
	p.Say(event.LevelInfo, "second")
	write()
	if n := strings.Count(tuitest.Stripped(p.frameText()), "the disk is full"); n != 1 {
		t.Errorf("told %d times", n)
	}
	full = false
	p.Say(event.LevelInfo, "third")
	write()
	for i, text := range []string{"first", "second", "third"} {
		if at := slices.IndexFunc(kept, func(s string) bool { return strings.Contains(s, text) }); at != i {
			t.Errorf("%q is stored at %d: %q", text, at, kept)
		}
	}
	full = true
	p.Say(event.LevelInfo, "fourth")
	write()
	if n := strings.Count(tuitest.Stripped(p.frameText()), "the disk is full"); n != 2 {
		t.Errorf("a new failure is told %d times", n-1)
	}
}

func TestEachSettingThatCannotBeSavedIsTold(t *testing.T) {
	t.Parallel()
	p, _ := still(t, 80, 40, func(o *front.Options) {
		o.Save = func(string, string) error { return errors.New("the disk is full") }
	})
	for range 2 {
		settleCmd(p, p.settings.save("theme", "dark"))
	}
	if n := strings.Count(tuitest.Stripped(p.frameText()), "could not be saved"); n != 2 {
		t.Errorf("told %d times", n)
	}
}

func TestAPromptThatIsBeingPreparedGoesBackIntoTheInputWhenTheSessionIsLeft(t *testing.T) {
	t.Parallel()
	p, _ := still(t, 80, 40, nil)
	p.listen.event(event.Preparing{Prompt: event.Prompt{Text: "first of all", Role: "reader"}, Doing: "asking the hooks"})
	p.in.SetText("then this")
	p.leave()
	p.leave()
	if got := p.in.Text(); got != "/role reader first of all\nthen this" {
		t.Errorf("the input holds %q", got)
	}
	p.in.Reset()
	p.listen.event(event.Preparing{Prompt: event.Prompt{Text: "second"}, Doing: "asking the hooks"})
	p.listen.event(event.TurnStart{Turn: 1, Seq: 1, Prompt: "second"})
	p.leave()
	if got := p.in.Text(); got != "" {
		t.Errorf("the committed prompt is in the input: %q", got)
	}
}
