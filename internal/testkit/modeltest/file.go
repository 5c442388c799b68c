package modeltest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"
)

// line is a Reply as a line of JSON. Times are in milliseconds.
type line struct {
	Text      words `json:"text"`
	Reasoning words `json:"reasoning"`
	Calls     []struct {
		ID   string          `json:"id"`
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"` // an object, or a string that is sent unchanged
	} `json:"calls"`
	Searches []Search          `json:"searches"`
	Chunks   []json.RawMessage `json:"chunks"` // payloads of `data:` lines
	Raw      string            `json:"raw"`    // the whole stream, literally

	Status     int               `json:"status"`
	Headers    map[string]string `json:"headers"`
	RetryAfter string            `json:"retry_after"` // the header
	Body       json.RawMessage   `json:"body"`        // a string is sent unchanged, anything else as JSON
	JSON       bool              `json:"json"`        // one JSON completion instead of a stream

	Finish   *string `json:"finish"` // "" omits it
	NoDone   bool    `json:"no_done"`
	NoUsage  bool    `json:"no_usage"`
	Usage    *Usage  `json:"usage"`
	CRLF     bool    `json:"crlf"`
	Comments bool    `json:"comments"`
	Events   bool    `json:"events"`
	Burst    bool    `json:"burst"`
	Pieces   int     `json:"pieces"`
	ArgPiece int     `json:"arg_pieces"`

	Delay         int     `json:"delay_ms"`
	Rate          float64 `json:"rate"`
	PauseAfter    int     `json:"pause_after"`
	Pause         int     `json:"pause_ms"`
	EndAfter      *int    `json:"end_after"`
	CutAfter      *int    `json:"cut_after"`
	ResetAfter    *int    `json:"reset_after"`
	SilenceAfter  *int    `json:"silence_after"`
	CommentsAfter *int    `json:"comments_after"`

	Times   int  `json:"times"`
	Forever bool `json:"forever"`
}

// words are the deltas of a text: a list, or one string that is cut after its spaces.
type words []string

func (w *words) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*w = strings.SplitAfter(one, " ")
		return nil
	}
	return json.Unmarshal(b, (*[]string)(w))
}

// literal returns a JSON string's content, and the JSON of anything else.
func literal(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

// Load reads a script: one reply per line of JSON, with the options of Reply under their names in lower case.
// Empty lines and lines that begin with # are skipped.
func Load(path string) ([]Reply, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open script: %w", err)
	}
	defer func() { _ = f.Close() }() // it is only read
	return Read(f)
}

// Read reads a script from r; errors name the line.
func Read(r io.Reader) ([]Reply, error) {
	var out []Reply
	in := bufio.NewScanner(r)
	in.Buffer(nil, 64<<20)
	for n := 1; in.Scan(); n++ {
		body := bytes.TrimSpace(in.Bytes())
		if len(body) == 0 || body[0] == '#' {
			continue
		}
		var l line
		dec := json.NewDecoder(bytes.NewReader(body))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&l); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		out = append(out, l.reply())
	}
	if err := in.Err(); err != nil {
		return nil, fmt.Errorf("read script: %w", err)
	}
	return out, nil
}

func (l line) reply() Reply {
	r := Reply{
		status: l.Status, body: literal(l.Body), json: l.JSON, text: l.Text, reasoning: l.Reasoning, raw: l.Raw,
		noDone: l.NoDone, crlf: l.CRLF, comments: l.Comments, events: l.Events, burst: l.Burst, piece: l.Pieces, argPiece: l.ArgPiece,
		searches: l.Searches, delay: ms(l.Delay), rate: l.Rate, times: l.Times, usage: l.Usage,
	}
	r.header = http.Header{}
	for name, v := range l.Headers {
		r.header.Set(name, v)
	}
	if l.RetryAfter != "" {
		r.header.Set("Retry-After", l.RetryAfter)
	}
	if l.Forever {
		r = r.Forever()
	}
	for _, c := range l.Calls {
		r.calls = append(r.calls, Call{ID: c.ID, Name: c.Name, Args: literal(c.Args)})
	}
	for _, c := range l.Chunks {
		r.chunks = append(r.chunks, string(c))
	}
	switch {
	case l.Finish != nil && *l.Finish == "":
		r.noFinish = true
	case l.Finish != nil:
		r.finish = *l.Finish
	}
	if l.NoUsage {
		r.usageIn = usageNowhere
	}
	if l.Pause > 0 {
		r = r.Pause(l.PauseAfter, ms(l.Pause))
	}
	return l.ending(r)
}

func (l line) ending(r Reply) Reply {
	switch {
	case l.EndAfter != nil:
		return r.EndAfter(*l.EndAfter)
	case l.CutAfter != nil:
		return r.CutAfter(*l.CutAfter)
	case l.ResetAfter != nil:
		return r.ResetAfter(*l.ResetAfter)
	case l.SilenceAfter != nil:
		return r.SilenceAfter(*l.SilenceAfter)
	case l.CommentsAfter != nil:
		return r.CommentsAfter(*l.CommentsAfter, 50*time.Millisecond)
	}
	return r
}

func ms(n int) time.Duration { return time.Duration(n) * time.Millisecond }
