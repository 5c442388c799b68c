package endpoint

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"jcode/internal/text"
)

// Fault is an error in a server's words: from the body of an error response, or from an error object inside a
// stream.
type Fault struct {
	message string
	kind    string // its type
	code    string
	param   string
	status  int           // an HTTP status that the body names, or 0
	resets  string        // when a limit ends, in the form of X-RateLimit-Reset
	delay   time.Duration // the wait that the body asks for
	raw     string
	request string // the request's ID at the provider
}

// ReadFault understands the forms that OpenAI-compatible servers use: an object with
// message, type, code and param, that object inside `error`, a list of one, `detail` or
// `message` at the top, or plain text.
func ReadFault(body []byte) Fault {
	body = bytes.TrimSpace(body)
	f := Fault{raw: string(body)}
	var v any
	if json.Unmarshal(body, &v) != nil {
		f.message = plainText(string(body))
		return f
	}
	f.from(v, 0)
	if f.message == "" {
		f.message = cut(string(body), 400)
	}
	return f
}

func (f *Fault) from(v any, depth int) {
	if depth > 4 {
		return
	}
	switch v := v.(type) {
	case string:
		f.set(&f.message, v)
		// An upstream's error object may be embedded as text in another one.
		var inner map[string]any
		if json.Unmarshal([]byte(v), &inner) == nil {
			f.from(inner, depth+1)
		}
	case []any:
		if len(v) > 0 {
			f.from(v[0], depth+1)
		}
	case map[string]any:
		f.object(v, depth)
	}
}

func (f *Fault) object(v map[string]any, depth int) {
	for _, key := range []string{"message", "msg"} {
		switch said := v[key].(type) {
		case string:
			if where := place(v["loc"]); where != "" {
				said = where + ": " + said
			}
			f.set(&f.message, said)
		case map[string]any, []any:
			f.from(said, depth+1)
		}
	}
	if s, ok := v["retryDelay"].(string); ok { // Google puts it in the details
		if d, err := time.ParseDuration(s); err == nil && d > 0 {
			f.delay = max(f.delay, d)
		}
	}
	for key, unit := range map[string]float64{"retry_after": 1, "retry_after_seconds": 1, "retry_after_ms": 1e-3} {
		if n, ok := v[key].(float64); ok && n > 0 {
			f.delay = max(f.delay, seconds(n*unit))
		}
	}
	for key, to := range map[string]*string{"request_id": &f.request, "type": &f.kind, "status": &f.kind, "param": &f.param} {
		if s, ok := v[key].(string); ok && s != "error" { // an envelope's own type
			f.set(to, s)
		}
	}
	switch code := v["code"].(type) {
	case string:
		f.set(&f.code, code)
		if n, err := strconv.Atoi(code); err == nil {
			f.setStatus(n)
		}
	case float64:
		f.setStatus(int(code))
		if f.code == "" && f.status != int(code) {
			f.code = strconv.Itoa(int(code))
		}
	}
	if status, ok := v["status"].(float64); ok {
		f.setStatus(int(status))
	}
	f.reset(v)
	for _, key := range []string{"error", "detail", "errors"} {
		if inner, ok := v[key]; ok && inner != nil {
			f.from(inner, depth+1)
		}
	}
	if details, ok := v["details"].([]any); ok {
		for _, d := range details[:min(len(details), maxDetails)] {
			f.from(d, depth+1)
		}
	}
	if meta, ok := v["metadata"].(map[string]any); ok { // OpenRouter puts the upstream's message here
		if s, ok := meta["raw"].(string); ok && s != "" {
			f.message = strings.TrimSpace(f.message + ": " + cut(s, 400))
		}
		if headers, ok := meta["headers"].(map[string]any); ok {
			f.reset(headers)
		}
	}
}

// reset reads the time at which a limit ends from headers that are copied into the body.
func (f *Fault) reset(v map[string]any) {
	for key, value := range v {
		if !strings.EqualFold(key, "X-RateLimit-Reset") {
			continue
		}
		switch value := value.(type) {
		case string:
			f.resets = value
		case float64:
			f.resets = strconv.FormatFloat(value, 'f', -1, 64)
		}
	}
}

// maxDetails bounds how many details are read.
const maxDetails = 20

// place formats the location of a fault in the request: ["body", "messages", 3] as messages.3.
func place(loc any) string {
	list, ok := loc.([]any)
	if !ok {
		return ""
	}
	var parts []string
	for i, step := range list {
		switch step := step.(type) {
		case string:
			if i > 0 || step != "body" {
				parts = append(parts, step)
			}
		case float64:
			parts = append(parts, strconv.Itoa(int(step)))
		}
	}
	return strings.Join(parts, ".")
}

func (f *Fault) set(to *string, s string) {
	if *to == "" {
		*to = s
	}
}

func (f *Fault) setStatus(n int) {
	if n >= 400 && n < 600 && f.status == 0 {
		f.status = n
	}
}

// plainText returns one readable line of a body that is not JSON.
func plainText(s string) string {
	if lower := strings.ToLower(s); strings.HasPrefix(lower, "<!doctype") || strings.HasPrefix(lower, "<html") {
		if _, rest, ok := strings.Cut(s, "<title>"); ok {
			title, _, _ := strings.Cut(rest, "<")
			return "a web page came instead of an answer: " + cut(strings.Join(strings.Fields(title), " "), 100)
		}
		return "a web page came instead of an answer"
	}
	return cut(strings.Join(strings.Fields(s), " "), 400)
}

// cut returns at most n bytes of s that are safe to show.
func cut(s string, n int) string {
	out, _ := text.CutMark(text.Clean(s), n, "…")
	return out
}
