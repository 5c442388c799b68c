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
	// Stream sends a request and reports what arrives through emit, in order and from one goroutine, until the
	// answer is complete. The Response holds the whole answer; with an error it holds the part that had arrived.
	// Retries happen inside and are reported as RetryEvents. Text is never emitted twice: after a broken stream
	// a ResetEvent says that the answer starts over.
	Stream(ctx context.Context, req Request, emit func(Event)) (Response, error)
}

// Request is one question to a model.
type Request struct {
	// Model is the ID by which the endpoint knows it.
	Model string
	// System is the system prompt.
	System string
	// Messages are the history in order, already valid for a provider.
	Messages []Message
	// Tools are the available tools, in a stable order.
	Tools []Tool

	// Answer is a JSON Schema that the text of the answer shall fit. Endpoints that are known for it are asked for that.
	Answer json.RawMessage
	// Search lets the provider search the web while it answers, where it can.
	Search bool

	// Settings; nil or zero means the provider's default.
	Temperature     *float64
	TopP            *float64
	ReasoningEffort string
	MaxOutputTokens int
	// Rebuilt says that what precedes some of the messages is not what preceded them when they were made: after a
	// compaction, or in another role.
	Rebuilt bool
	// Session names the conversation, so that a provider can find its prompt cache.
	Session string
	// Agent is the name of the sub-agent that asks, "" for the conversation itself. It is not sent: scripts use
	// it to tell speakers apart.
	Agent string
	// Purpose tells answers from side requests: replay and recording only cover turns.
	Purpose Purpose
}

// Purpose says what a request is for.
type Purpose string

// The purposes.
const (
	PurposeTurn    Purpose = ""
	PurposeTitle   Purpose = "title"
	PurposeSummary Purpose = "summary"
	// PurposeCompaction asks for a summary at the end of the conversation itself: all that comes before it is as in a
	// turn, so that it is read from the provider's cache.
	PurposeCompaction Purpose = "compaction"
)

// Beside reports whether a request stands beside the conversation: it shares nothing with its turns.
func (p Purpose) Beside() bool { return p == PurposeTitle || p == PurposeSummary }

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
	// Images are shown to models that accept them (user and tool messages).
	Images []Image
	// Reasoning is an assistant message's thinking, sent back only where the provider wants it.
	Reasoning string
	// Calls are an assistant message's tool calls.
	Calls []Call
	// Opaque are parts of an assistant message that only their own protocol understands, in
	// order.
	Opaque []Opaque
	// ToolsAdded and ToolsRemoved list the tools that were added and removed at this point; they are set on a
	// message of jcode's own that announces it to the model.
	ToolsAdded   []Tool
	ToolsRemoved []string
	// CallID says which call a tool message answers.
	CallID string
	// Name is the wire name of the tool whose result a tool message holds.
	Name string
	// Failed says that the call of a tool message did not do what it was meant to.
	Failed bool
}

// Image is a picture in a message, or a document (MIMEPDF).
type Image struct {
	MIME string
	Data []byte
	// Text is a document's text, for a model that does not accept the document.
	Text string
}

// MIMEPDF is the media type of the documents that some protocols accept.
const MIMEPDF = "application/pdf"

// Given returns the text of a message and the images that the model accepts. A document that it does not
// accept is added as text; for pictures the text says how many were left out.
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
	// Arguments is what the model wrote, byte for byte, even if it is not JSON.
	Arguments string
	// Incomplete marks a call whose arguments were cut off by the end of the stream: it must never run.
	Incomplete bool
}

// Tool is an available tool.
type Tool struct {
	Name        string
	Description string
	Parameters  json.RawMessage
	// Freeform names the only string parameter of a tool that models were trained to call with plain text; ""
	// for all others.
	Freeform string
	// Grammar describes that text in Lark's notation; "" leaves it free.
	Grammar string
}

// FinishPause is the finish reason of an answer that the provider continues when it is sent back unchanged.
const FinishPause = "pause"

// Response is a complete answer.
type Response struct {
	Text      string
	Reasoning string
	Calls     []Call
	// Opaque are parts that must be sent back with the message, in order.
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
	// Input counts all tokens that were sent, including cached ones.
	Input int `json:"input_tokens"`
	// Output counts all tokens that are billed as output, including thinking.
	Output int `json:"output_tokens"`
	// Cached are the tokens of Input that were read from the provider's cache.
	Cached int `json:"cached_tokens"`
	// Written are the tokens of Input that were written to the cache, WrittenHour those that were written for an
	// hour.
	Written     int `json:"cache_write_tokens,omitempty"`
	WrittenHour int `json:"cache_write_1h_tokens,omitempty"`
	// Searches counts the provider's searches of the web.
	Searches int `json:"web_searches,omitempty"`
	// Cost is the price in US dollars if the provider names it.
	Cost float64 `json:"cost,omitempty"`
	// Tier is the service tier that the provider used, "" for its standard one.
	Tier string `json:"service_tier,omitempty"`
	// Summed says that Input counts the prompt once for each pass that the provider made over it, as it does for
	// its own tools: it is what is billed, but not how full the window is.
	Summed bool `json:"-"`
	// Estimated marks counts that the provider did not report (bytes / 4).
	Estimated bool `json:"estimated"`
}

// Plus returns the sum of two usages.
func (u Usage) Plus(o Usage) Usage {
	u.Input += o.Input
	u.Output += o.Output
	u.Cached += o.Cached
	u.Written += o.Written
	u.WrittenHour += o.WrittenHour
	u.Searches += o.Searches
	u.Cost += o.Cost
	u.Estimated = u.Estimated || o.Estimated
	u.Summed = u.Summed || o.Summed
	if o.Tier != "" {
		u.Tier = o.Tier
	}
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

// RetryEvent says that the request will be retried after a wait.
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
