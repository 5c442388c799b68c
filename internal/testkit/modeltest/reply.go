package modeltest

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"
)

// Call is a tool call: one that a reply makes, or one in a recorded request.
type Call struct {
	// ID is made up by the server when it is empty.
	ID   string
	Name string
	// Args is the text of the arguments, usually a JSON object.
	Args string
}

// Usage counts tokens as a provider reports them.
type Usage struct {
	Input  int `json:"input"`
	Output int `json:"output"`
	Cached int `json:"cached"`
}

// Reply answers one request. The zero value is an empty answer; the functions of this
// package build others, and the methods return changed copies.
type Reply struct {
	choose func(Request) Reply
	times  int // how many requests it answers; 0 is 1, negative is no end

	// A plain HTTP answer.
	status int
	header http.Header
	body   string
	json   bool // answer with one JSON completion instead of a stream

	// A stream: what is said, or literally what is sent.
	reasoning []string
	text      []string
	calls     []Call
	argPiece  int
	finish    string
	noFinish  bool
	usage     *Usage
	usageIn   usagePlace
	chunks    []string // payloads of `data:` lines, instead of the above
	raw       string   // bytes of the whole stream, instead of the above

	// How it is written.
	noDone   bool
	crlf     bool
	comments bool
	events   bool
	piece    int
	burst    bool
	delay    time.Duration
	rate     float64
	searches []Search
	pauses   map[int]time.Duration
	lateEnd  time.Duration
	end      ending
	endAfter int
	beat     time.Duration
}

type usagePlace int

const (
	usageLast    usagePlace = iota // a last chunk with empty choices
	usageChoice                    // inside choices[0] of the finishing chunk
	usageBoth                      // in both places
	usageFinish                    // beside choices in the finishing chunk
	usageNowhere                   // left out
)

type ending int

const (
	endRegular ending = iota
	endClean          // the stream ends regularly, but too early
	endCut            // the connection is closed in the middle of the body
	endReset          // the connection is reset
	endSilence        // nothing comes any more, the connection stays open
	endBeats          // only comments come any more
)

// Text answers with text, one delta per piece.
func Text(pieces ...string) Reply { return Reply{text: pieces} }

// Calls answers with tool calls and no text.
func Calls(calls ...Call) Reply { return Reply{calls: calls} }

// Raw sends bytes as they are as an event stream.
func Raw(stream string) Reply { return Reply{raw: stream} }

// Chunks sends each payload in a `data:` line of its own, and [DONE] after the last.
func Chunks(payloads ...string) Reply {
	return Reply{chunks: append([]string{}, payloads...)}
}

// Status answers with an HTTP status, headers (may be nil) and a body.
func Status(code int, header http.Header, body string) Reply {
	return Reply{status: code, header: header, body: body}
}

// Error answers with an HTTP status and an error object as OpenAI writes it.
func Error(code int, kind, message string) Reply {
	return Status(code, nil, errorBody(kind, "", message))
}

// Refusal is a 400 with an error object.
func Refusal(kind, message string) Reply { return Error(http.StatusBadRequest, kind, message) }

// ContextOverflow is the 400 of a request that is longer than the model's window.
func ContextOverflow() Reply {
	return Status(http.StatusBadRequest, nil, errorBody("invalid_request_error", "context_length_exceeded",
		"This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens."))
}

// Func answers with what f makes of the request.
func Func(f func(Request) Reply) Reply { return Reply{choose: f} }

// RefuseIf refuses a request for which breach returns a message with a 400 that bears
// it, and answers others with the reply.
func RefuseIf(breach func(Request) string, otherwise Reply) Reply {
	return Func(func(r Request) Reply {
		if msg := breach(r); msg != "" {
			return Refusal("invalid_request_error", msg)
		}
		return otherwise
	})
}

// Times makes the reply answer n requests in a row.
func (r Reply) Times(n int) Reply { r.times = n; return r }

// Forever makes the reply answer all requests that are left.
func (r Reply) Forever() Reply { r.times = -1; return r }

// WithText puts text before the calls.
func (r Reply) WithText(pieces ...string) Reply { r.text = pieces; return r }

// WithCalls adds calls.
func (r Reply) WithCalls(calls ...Call) Reply { r.calls = calls; return r }

// WithReasoning puts reasoning_content deltas first.
func (r Reply) WithReasoning(pieces ...string) Reply { r.reasoning = pieces; return r }

// ArgPieces sends arguments in deltas of about n bytes, cut at rune borders.
func (r Reply) ArgPieces(n int) Reply { r.argPiece = n; return r }

// Finish sets the finish_reason; without it, it is "tool_calls" or "stop".
func (r Reply) Finish(reason string) Reply { r.finish = reason; return r }

// NoFinish leaves the finish_reason out.
func (r Reply) NoFinish() Reply { r.noFinish = true; return r }

// NoDone leaves the closing [DONE] out.
func (r Reply) NoDone() Reply { r.noDone = true; return r }

// Usage reports usage in a last chunk without choices. A reply that says nothing of usage
// reports 10 tokens of input and 5 of output.
func (r Reply) Usage(u Usage) Reply { r.usage = &u; r.usageIn = usageLast; return r }

// UsageInChoice reports usage inside choices[0].
func (r Reply) UsageInChoice(u Usage) Reply { r.usage = &u; r.usageIn = usageChoice; return r }

// UsageTwice reports usage inside choices[0] and in the last chunk.
func (r Reply) UsageTwice(u Usage) Reply { r.usage = &u; r.usageIn = usageBoth; return r }

// UsageWithFinish reports usage in the chunk that bears the finish_reason.
func (r Reply) UsageWithFinish(u Usage) Reply { r.usage = &u; r.usageIn = usageFinish; return r }

// NoUsage reports no usage.
func (r Reply) NoUsage() Reply { r.usageIn = usageNowhere; return r }

// AsJSON answers the streaming request with one plain JSON completion.
func (r Reply) AsJSON() Reply { r.json = true; return r }

// CRLF ends lines with \r\n.
func (r Reply) CRLF() Reply { r.crlf = true; return r }

// Comments puts a comment line, an empty `data:` line and blank lines between chunks.
func (r Reply) Comments() Reply { r.comments = true; return r }

// Events puts an `event:` and an `id:` line before each chunk.
func (r Reply) Events() Reply { r.events = true; return r }

// Pieces writes n bytes at a time, each write flushed, wherever the border falls.
func (r Reply) Pieces(n int) Reply { r.piece = n; return r }

// Burst writes the stream as fast as possible, without a flush per chunk.
func (r Reply) Burst() Reply { r.burst = true; return r }

// Delay waits before the first byte, headers included.
func (r Reply) Delay(d time.Duration) Reply { r.delay = d; return r }

// Rate writes so many chunks per second.
func (r Reply) Rate(perSecond float64) Reply { r.rate = perSecond; return r }

// Pause waits after chunk n (1-based).
func (r Reply) Pause(n int, d time.Duration) Reply {
	pauses := map[int]time.Duration{n: d}
	for k, v := range r.pauses {
		pauses[k] = v
	}
	r.pauses = pauses
	return r
}

// LateEnd lets the end of the answer come so much after its text.
func (r Reply) LateEnd(d time.Duration) Reply { r.lateEnd = d; return r }

// EndAfter ends the stream regularly after chunk n, without finish_reason and [DONE].
func (r Reply) EndAfter(n int) Reply { r.end, r.endAfter = endClean, n; return r }

// CutAfter closes the connection after chunk n, in the middle of the body.
func (r Reply) CutAfter(n int) Reply { r.end, r.endAfter = endCut, n; return r }

// ResetAfter resets the connection after chunk n.
func (r Reply) ResetAfter(n int) Reply { r.end, r.endAfter = endReset, n; return r }

// SilenceAfter sends nothing after chunk n and keeps the connection open.
func (r Reply) SilenceAfter(n int) Reply { r.end, r.endAfter = endSilence, n; return r }

// CommentsAfter sends only comments after chunk n, one per interval.
func (r Reply) CommentsAfter(n int, interval time.Duration) Reply {
	r.end, r.endAfter, r.beat = endBeats, n, interval
	return r
}

func errorBody(kind, code, message string) string {
	e := map[string]any{"message": message, "type": kind}
	if code != "" {
		e["code"] = code
	}
	return marshal(map[string]any{"error": e})
}

func marshal(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err) // only maps, strings and numbers come here
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// split cuts s into pieces of about n bytes at rune borders; n < 1 does not cut.
func split(s string, n int) []string {
	if n < 1 || len(s) <= n {
		return []string{s}
	}
	var out []string
	for len(s) > n {
		cut := n
		for cut < len(s) && !utf8.RuneStart(s[cut]) {
			cut++
		}
		out = append(out, s[:cut])
		s = s[cut:]
	}
	if s != "" {
		out = append(out, s)
	}
	return out
}
