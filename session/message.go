package session

import "time"

// The roles of messages.
const (
	RoleUser      = "user"
	RoleAssistant = "assistant"
	RoleSystem    = "system"  // a notice to the model
	RoleSummary   = "summary" // replaces the messages that it archived
)

// Message is one row of messages. Seq is its number in the session, from 1; the store assigns it.
type Message struct {
	Session  string
	Seq      int64
	Role     string // RoleUser, RoleAssistant, RoleSystem, RoleSummary
	Parts    []Part
	Usage    *Usage
	Archived int64 // seq of the summary that replaced it, 0 if live
	Created  time.Time
	// Calls are an assistant message's tool calls in order.
	Calls []Call
	// Broken says why the row could not be read; the other fields may be empty.
	Broken string
}

// Text is the message's text parts, joined.
func (m Message) Text() string {
	var n int
	var last string
	for _, p := range m.Parts {
		if p.Kind == PartText {
			n++
			last = p.Text
		}
	}
	if n < 2 {
		return last
	}
	var b []byte
	for _, p := range m.Parts {
		if p.Kind == PartText {
			b = append(b, p.Text...)
		}
	}
	return string(b)
}

// Shown is the message as the person sees it: what they typed, where a command or a
// template made the text of it.
func (m Message) Shown() string {
	for _, p := range m.Parts {
		if p.Kind == PartShown && p.Text != "" {
			return p.Text
		}
	}
	return m.Text()
}

// Part is a piece of a message.
type Part struct {
	Kind string `json:"kind"` // one of the kinds below
	Text string `json:"text,omitempty"`
	MIME string `json:"mime,omitempty"`
	Data []byte `json:"data,omitempty"`
}

// Foreign is the MIME of thinking that came from another program: it is shown, and sent to no model.
const Foreign = "foreign"

// The kinds of parts.
const (
	PartText      = "text"
	PartReasoning = "reasoning"
	PartImage     = "image"
	PartRefused   = "refused" // a picture that a provider refused: kept, never sent again
	PartOpaque    = "opaque"  // what only the protocol understands that it came over, as JSON
	PartTools     = "tools"   // the tools that came and went with a notice, as JSON
	PartShown     = "shown"   // what the person sees instead of the text
	PartRange     = "range"   // which messages a summary replaces
	PartLeftOut   = "leftout" // which messages are not sent any more, since a provider refused them
	PartSkill     = "skill"   // the skill whose instructions the text holds
)
