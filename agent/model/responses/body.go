package responses

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"

	"jcode/agent/model/endpoint"
)

// normalBody returns an answer as an event stream that go-openai reads.
func normalBody(resp *http.Response, silent *endpoint.Silence) io.ReadCloser {
	body := silent.Reader(resp.Body)
	if endpoint.IsJSON(resp) {
		return oneEvent(body)
	}
	return newDataLines(body)
}

// oneEvent turns a response that arrived as one object into the event that ends a stream.
func oneEvent(body io.ReadCloser) io.ReadCloser {
	defer func() { _ = body.Close() }() // it is read here
	raw, err := io.ReadAll(io.LimitReader(body, endpoint.MaxAnswer+1))
	if err != nil || len(raw) > endpoint.MaxAnswer || !json.Valid(raw) {
		return io.NopCloser(bytes.NewReader(raw)) // not an answer; this was reported
	}
	var line bytes.Buffer
	line.WriteString(`data: {"type":"response.completed","response":`)
	_ = json.Compact(&line, raw) // it is valid
	line.WriteString("}\n\n")
	return io.NopCloser(&line)
}

// dataLines keeps only the data of an event stream, which go-openai can read. The library keeps every other
// line, in case it is an error, and takes a payload that begins with an error object for the end.
type dataLines struct {
	io.Closer
	lines endpoint.Lines
	part  []byte // the beginning of a payload that continues on the next line
	out   []byte // ready to be read
	err   error
}

func newDataLines(body io.ReadCloser) *dataLines {
	return &dataLines{Closer: body, lines: endpoint.NewLines(endpoint.SkipMark(body))}
}

// Read returns data lines, each followed by an empty one.
func (d *dataLines) Read(p []byte) (int, error) {
	for len(d.out) == 0 {
		if d.err != nil {
			return 0, d.err
		}
		d.fill()
	}
	n := copy(p, d.out)
	d.out = d.out[n:]
	return n, nil
}

func (d *dataLines) fill() {
	line, err := d.lines.Next()
	data, ok := bytes.CutPrefix(line, []byte("data:"))
	if d.err = err; !ok {
		if len(line) > 0 || len(d.part) == 0 {
			return
		}
		data = nil // the event ends here, whatever it holds
	}
	data = bytes.TrimSpace(data)
	if len(d.part) > 0 || !json.Valid(data) && bytes.HasPrefix(data, []byte("{")) {
		d.part = append(append(d.part, ' '), data...)
		if ok && !(bytes.HasSuffix(data, []byte("}")) && json.Valid(d.part)) && len(d.part) <= endpoint.MaxAnswer {
			return
		}
		data, d.part = bytes.TrimSpace(d.part), nil
	}
	d.out = append(d.out[:0], "data: "...)
	if rest, ok := bytes.CutPrefix(data, []byte(`{"error":`)); ok {
		d.out = append(d.out, `{"type":"error","error":`...)
		data = rest
	}
	d.out = append(append(d.out, data...), "\n\n"...)
}
