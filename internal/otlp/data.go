package otlp

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"
)

// TraceID names a trace, SpanID a span in it. Their zero values name none.
type (
	TraceID [16]byte
	SpanID  [8]byte
)

// String returns the ID in hexadecimal digits.
func (t TraceID) String() string { return hex.EncodeToString(t[:]) }

// String returns the ID in hexadecimal digits, "" for none.
func (s SpanID) String() string {
	if s == (SpanID{}) {
		return ""
	}
	return hex.EncodeToString(s[:])
}

// TraceOf derives a trace from words.
func TraceOf(words ...string) (t TraceID) {
	sum := sha256.Sum256([]byte(strings.Join(words, "\x00")))
	copy(t[:], sum[:])
	return t
}

// Span derives a span of the trace from words.
func (t TraceID) Span(words ...string) (s SpanID) {
	sum := sha256.Sum256([]byte(t.String() + "\x00" + strings.Join(words, "\x00")))
	copy(s[:], sum[:])
	return s
}

// Parent is a span that others are below, as the W3C header traceparent names it.
type Parent struct {
	Trace   TraceID
	Span    SpanID
	Sampled bool
}

// ParseParent reads a traceparent. ok is false for none, and for what is none.
func ParseParent(word string) (p Parent, ok bool) {
	parts := strings.Split(strings.TrimSpace(word), "-")
	if len(parts) < 4 || len(parts[0]) != 2 || parts[0] == "ff" || len(parts[1]) != 32 || len(parts[2]) != 16 || len(parts[3]) != 2 || parts[0] == "00" && len(parts) > 4 {
		return p, false
	}
	trace, err1 := hex.DecodeString(parts[1])
	span, err2 := hex.DecodeString(parts[2])
	flags, err3 := hex.DecodeString(parts[3])
	if err1 != nil || err2 != nil || err3 != nil {
		return p, false
	}
	p.Sampled = flags[0]&1 == 1
	copy(p.Trace[:], trace)
	copy(p.Span[:], span)
	return p, p.Trace != TraceID{} && p.Span != SpanID{}
}

// String returns the traceparent.
func (p Parent) String() string {
	flags := "00"
	if p.Sampled {
		flags = "01"
	}
	return "00-" + p.Trace.String() + "-" + p.Span.String() + "-" + flags
}

// Attr is an attribute.
type Attr struct {
	Key   string `json:"key"`
	Value value  `json:"value"`
}

// value is one of its forms.
type value struct {
	String *string  `json:"stringValue,omitempty"`
	Int    string   `json:"intValue,omitempty"`
	Double *float64 `json:"doubleValue,omitempty"`
	Array  *struct {
		Values []value `json:"values"`
	} `json:"arrayValue,omitempty"`
}

// String returns an attribute with a text.
func String(key, text string) Attr {
	text = strings.ToValidUTF8(text, "\uFFFD")
	return Attr{key, value{String: &text}}
}

// Int returns an attribute with a whole number.
func Int(key string, n int) Attr { return Attr{key, value{Int: strconv.Itoa(n)}} }

// Float returns an attribute with a number, as a text if it is infinite or none.
func Float(key string, n float64) Attr {
	if !isNumber(n) {
		return String(key, strconv.FormatFloat(n, 'g', -1, 64))
	}
	return Attr{key, value{Double: &n}}
}

// isNumber reports whether JSON can write a number.
func isNumber(n float64) bool { return !math.IsNaN(n) && !math.IsInf(n, 0) }

// Strings returns an attribute with a list of texts.
func Strings(key string, texts ...string) Attr {
	list := &struct {
		Values []value `json:"values"`
	}{}
	for _, text := range texts {
		list.Values = append(list.Values, String("", text).Value)
	}
	return Attr{key, value{Array: list}}
}

// Kind is a span's kind.
type Kind int

// The kinds that are used.
const (
	Internal Kind = 1
	Client   Kind = 3
)

// Span is a piece of work.
type Span struct {
	Trace      TraceID
	ID, Parent SpanID
	Name       string
	Kind       Kind
	Start, End time.Time
	Attrs      []Attr
	// Failed says that the work failed, and Fault why.
	Failed bool
	Fault  string
}

func (s Span) size() int {
	n := 256 + len(s.Name) + len(s.Fault)
	for _, a := range s.Attrs {
		n += 64 + len(a.Key)
		if a.Value.String != nil {
			n += len(*a.Value.String)
		}
	}
	return n
}

// MarshalJSON encodes the span as OTLP does: IDs in hexadecimal digits, times as texts.
func (s Span) MarshalJSON() ([]byte, error) {
	type status struct {
		Code    int    `json:"code,omitempty"`
		Message string `json:"message,omitempty"`
	}
	out := struct {
		Trace  string `json:"traceId"`
		ID     string `json:"spanId"`
		Parent string `json:"parentSpanId,omitempty"`
		Name   string `json:"name"`
		Kind   Kind   `json:"kind"`
		Start  string `json:"startTimeUnixNano"`
		End    string `json:"endTimeUnixNano"`
		Attrs  []Attr `json:"attributes,omitempty"`
		Status status `json:"status"`
	}{s.Trace.String(), s.ID.String(), s.Parent.String(), s.Name, s.Kind, nanos(s.Start), nanos(s.End), s.Attrs, status{}}
	if s.Failed {
		out.Status = status{2, strings.ToValidUTF8(s.Fault, "\uFFFD")}
	}
	return json.Marshal(out)
}

func nanos(t time.Time) string { return strconv.FormatInt(t.UnixNano(), 10) }
