package hookscli

import (
	"time"

	"jcode/agent"
	"jcode/agent/event"
	"jcode/hooks"
)

// follow tells hooks when a conversation waits for the person, starting with the first hook that wants to
// know.
func (h *Hooks) follow(conv *agent.Conversation) {
	if !h.engine.Wants(hooks.Notification) {
		return
	}
	h.mu.Lock()
	followed := h.followed == conv
	h.followed = conv
	h.mu.Unlock()
	if followed {
		return
	}
	sub := conv.Observe()
	h.work.Go(func() {
		defer sub.Close()
		h.notify(conv, sub)
	})
}

// Tell runs the hooks for a notification to the person.
func (h *Hooks) Tell(id, kind, message string) {
	h.engine.Fire(h.ctx, hooks.Occasion{
		Event: hooks.Notification, Session: id, Names: []string{kind}, Fields: map[string]any{"notification_type": kind, "message": message},
	})
}

func (h *Hooks) notify(conv *agent.Conversation, sub *event.Subscription) {
	tell := func(kind, message string) { h.Tell(conv.ID(), kind, message) }
	idle := time.AfterFunc(time.Hour, func() { tell("idle_prompt", "jcode waits for your next prompt") })
	idle.Stop()
	defer idle.Stop()
	for {
		ev, ok := sub.Next(h.ctx)
		if !ok {
			return
		}
		switch ev := ev.(type) {
		case event.TurnStart:
			idle.Stop()
		case event.TurnEnd:
			idle.Reset(idleAfter)
		case event.ApprovalAsked:
			tell("permission_prompt", "jcode asks: "+ev.Question.Heading())
		case event.AskForm, event.AskPerson:
			tell("elicitation_dialog", "jcode asks you something")
		}
	}
}
