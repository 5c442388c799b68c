//go:build linux || darwin

package tui

import (
	"context"
	"testing"

	"jcode/tools/command"
	"jcode/tui/front"
	"jcode/tui/tuitest"
)

// Commands that are entered before the session is ready wait for it and then run in order.
func TestCommandsBeforeTheSessionIsReadyAreCarriedOutThen(t *testing.T) {
	t.Parallel()
	ready := make(chan struct{})
	var f *tuitest.Conversation
	r := run(t, 100, 24, func(o *front.Options) {
		s := *o.Session
		f = s.Conversation.(*tuitest.Conversation)
		o.Session = nil
		o.Panels = append(o.Panels, command.Panel{Name: "helpers", Other: command.Verb{Run: func(_ context.Context, words string) (string, error) {
			select {
			case <-ready:
				return "done once it was there: " + words, nil
			default:
				return "done too early: " + words, nil
			}
		}}})
		o.Start = func(ctx context.Context) (front.Session, error) {
			select {
			case <-ready:
				return s, nil
			case <-ctx.Done():
				return front.Session{}, ctx.Err()
			}
		}
	})
	r.see("ask for something")
	for _, line := range []string{"/role reviewer", "/rename Two words", "/helpers resume ann", "hello there"} {
		r.Type(line)
		r.see("› " + line)
		r.Press("enter")
		r.see("as soon as the session is ready")
	}
	close(ready)
	r.until("the role is entered, the title given, the prompt sent", func() bool {
		s := f.State()
		return s.Role == "reviewer" && s.Title == "Two words" && len(f.Sent()) == 1
	})
	r.see("done once it was there: resume ann")
}
