package model

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Client speaks with one model endpoint. It is safe for concurrent use.
type Client interface {
	// Stream sends a request and reports what arrives through emit, in order and from one
	// goroutine, until the answer is complete. The Response holds the whole answer, also
	// together with an error where a part of it had arrived. Retries happen inside, and
	// are reported as RetryEvents; text already emitted is never emitted twice: after a
	// cut a ResetEvent says that the answer starts over.
	Stream(ctx context.Context, req Request, emit func(Event)) (Response, error)
}

// Request is one question to a model.
type Request struct {
	// Model is the ID as the endpoint knows it.
	Model string
	// System is the system prompt.
	System string
	// Messages are the history in order, already valid for a provider.
	Messages []Message
	// Tools are the tools on offer, in a stable order.
	Tools []Tool

	// Search lets the provider search the web while it answers, where it can.
	Search bool

	// Settings; nil or zero means the provider's default.
	Temperature     *float64
	TopP            *float64
	ReasoningEffort string
	MaxOutputTokens int
	// Session names the conversation, so that a provider finds its prompt cache again.
	Session string
	// Agent is the name of the sub-agent that asks, "" for the conversation itself. It is not
	// sent: scripts tell speakers apart by it.
	Agent string
	// Purpose tells answers from side requests: replay and recording only serve turns.
	Purpose Purpose
}

// Purpose says what a request is for.
type Purpose string

// The purposes.
const (
	PurposeTurn    Purpose = ""
	PurposeTitle   Purpose = "title"
	PurposeSummary Purpose = "summary"
)

// Role is the role of a message.
type Role string

// The roles of a request's messages; the system prompt is not among them.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// Message is one message of a request.
type Message struct {
	Role Role
	// Text is the content.
	Text string
	// Images are shown to models that see (user and tool messages).
	Images []Image
	// Reasoning is an assistant message's thinking, sent back only where the provider wants it.
	Reasoning string
	// Calls are an assistant message's tool calls.
	Calls []Call
	// Opaque are parts of an assistant message that only their own protocol understands, in
	// order.
	Opaque []Opaque
	// ToolsAdded and ToolsRemoved say which tools came and went at this place, on a message of
	// jcode's own that tells the model so.
	ToolsAdded   []Tool
	ToolsRemoved []string
	// CallID says which call a tool message answers.
	CallID string
	// Name is the wire name of the tool that a tool message answers for.
	Name string
}

// Image is a picture in a message, or a document (MIMEPDF).
type Image struct {
	MIME string
	Data []byte
	// Text is what a document says, for a model that does not take it.
	Text string
}

// MIMEPDF is the media type of the documents that some protocols take.
const MIMEPDF = "application/pdf"

// Given splits what a message holds into its text and the images that the model takes. A
// document that it does not take is given as its text; of pictures the text says how many
// are left out.
func Given(text string, images []Image, takes func(mime string) bool) (string, []Image) {
	left := 0
	given := images[:0:0]
	for _, img := range images {
		switch {
		case takes(img.MIME):
			given = append(given, img)
		case img.Text != "":
			text = strings.TrimSpace(text + "\n" + img.Text)
		default:
			left++
		}
	}
	if left > 0 {
		text = strings.TrimSpace(text + fmt.Sprintf("\n(%d image(s) left out: the model takes none)", left))
	}
	return text, given
}

// Call is a tool call of an assistant message.
type Call struct {
	// ID is unique in its conversation. Clients shorten it where a provider wants that.
	ID string
	// Name is the wire name.
	Name string
	// Arguments is what the model wrote, byte for byte, also when it is no JSON.
	Arguments string
	// Incomplete marks a call whose arguments were cut by the end of the stream: it must
	// never run.
	Incomplete bool
}

// Tool is a tool on offer.
type Tool struct {
	Name        string
	Description string
	Parameters  json.RawMessage
	// Freeform names the one string parameter of a tool that models were trained to call with
	// plain text; "" for all others.
	Freeform string
	// Grammar is the form of that text, in Lark's notation; "" leaves it open.
	Grammar string
}

// FinishPause is the finish reason of an answer that the provider continues when it is sent
// back as it is.
const FinishPause = "pause"

// Response is a whole answer.
type Response struct {
	Text      string
	Reasoning string
	Calls     []Call
	// Opaque are parts that must come back with the message, in order.
	Opaque []Opaque
	// Finish is the provider's finish reason: "stop", "tool_calls", "length", "content_filter", FinishPause, "",
	// or the provider's own word.
	Finish string
	Usage  Usage
	// Wasted counts the attempts that failed after the provider had counted their tokens.
	Wasted Usage
	// Model is the ID that the endpoint reports.
	Model string
}

// Usage counts tokens.
type Usage struct {
	// Input counts all tokens that were sent, those of the cache included.
	Input int `json:"input_tokens"`
	// Output counts all tokens that are billed as output, thinking included.
	Output int `json:"output_tokens"`
	// Cached are those of Input that were read from the provider's cache.
	Cached int `json:"cached_tokens"`
	// Written are those of Input that were written to the cache, WrittenHour those that
	// were written to stay for an hour.
	Written     int `json:"cache_write_tokens,omitempty"`
	WrittenHour int `json:"cache_write_1h_tokens,omitempty"`
	// Searches are those of the web that the provider made.
	Searches int `json:"web_searches,omitempty"`
	// Cost is the price in US dollars where the provider names it.
	Cost float64 `json:"cost,omitempty"`
	// Estimated marks counts that the provider did not give (bytes / 4).
	Estimated bool `json:"estimated"`
}

// Plus adds two usages.
func (u Usage) Plus(o Usage) Usage {
	u.Input += o.Input
	u.Output += o.Output
	u.Cached += o.Cached
	u.Written += o.Written
	u.WrittenHour += o.WrittenHour
	u.Searches += o.Searches
	u.Cost += o.Cost
	u.Estimated = u.Estimated || o.Estimated
	return u
}

// Event is something that happens while an answer streams.
type Event interface{ event() }

// TextEvent is a piece of the answer.
type TextEvent struct{ Delta string }

// ReasoningEvent is a piece of the model's thinking.
type ReasoningEvent struct{ Delta string }

// CallEvent says that a tool call is being written; Bytes counts its arguments so far.
type CallEvent struct {
	Index int
	Name  string
	Bytes int
}

// RetryEvent says that the request is tried again after a wait.
type RetryEvent struct {
	Attempt int
	Wait    time.Duration
	Reason  string
}

// ResetEvent says that what was emitted of this answer so far is void.
type ResetEvent struct{ Reason string }

// NoticeEvent tells the person something, such as a downgrade that is remembered.
type NoticeEvent struct{ Text string }

func (TextEvent) event()      {}
func (ReasoningEvent) event() {}
func (CallEvent) event()      {}
func (RetryEvent) event()     {}
func (ResetEvent) event()     {}
func (NoticeEvent) event()    {}
