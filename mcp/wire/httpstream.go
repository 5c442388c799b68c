package wire

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"jcode/internal/rawjson"
)

const (
	reopenFirst   = 500 * time.Millisecond
	reopenLongest = 60 * time.Second
)

// keep answers a request for the stream of notifications with a body that doesn't end: the real
// stream is opened underneath, and reopened whenever it ends. The library would otherwise abandon
// a healthy session after a few streams that end. body is that of a POST.
func (r *roundTripper) keep(req *http.Request, body []byte) *http.Response {
	out, in := io.Pipe()
	ctx, cancel := context.WithCancel(req.Context())
	stop := context.AfterFunc(r.dead, cancel)
	r.wait.Go(func() {
		defer stop()
		defer cancel()
		r.keepOpen(ctx, req, body, in)
		<-ctx.Done()
		_ = in.CloseWithError(io.EOF) // never fails
	})
	resp := reply(req, http.StatusOK, "text/event-stream", nil)
	resp.Body, resp.ContentLength = &endingBody{ReadCloser: out, end: cancel}, -1
	return resp
}

// keepOpen opens the real stream until ctx ends or the server has none.
func (r *roundTripper) keepOpen(ctx context.Context, req *http.Request, body []byte, in io.Writer) {
	first := cmp.Or(r.mode.Reopen, reopenFirst)
	delay := first
	lastID := ""
	for opened := false; ctx.Err() == nil; {
		var asked time.Duration // the wait that the server asked for
		again := req.Clone(ctx)
		if body != nil {
			again.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
			again.Body, again.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		}
		if lastID != "" && body == nil {
			again.Header.Set("Last-Event-ID", lastID)
		}
		resp, err := r.send(again)
		switch {
		case needsPerson(err):
			r.lose(networkError(err))
			return
		case err != nil:
		case resp.StatusCode >= 400 && resp.StatusCode < 500 && resp.StatusCode != http.StatusTooManyRequests && !opened,
			resp.StatusCode < 300 && !isEventStream(resp):
			r.log.Note("no stream of notifications: status %d", resp.StatusCode)
			_ = resp.Body.Close() // nothing in it matters
			return
		case resp.StatusCode < 300:
			opened = true
			r.streaming.Store(true)
			f := r.filter(resp.Body, nil)
			_, _ = io.Copy(in, f) // the end of a stream is not a failure
			_ = f.Close()         // it was read
			r.streaming.Store(false)
			if f.lastID != "" {
				lastID = f.lastID
			}
			asked = min(f.retry, reopenLongest)
			if f.messages > 0 {
				delay = first
			}
		default:
			_ = resp.Body.Close() // a later try may work
			asked = retryAfter(resp.Header.Get("Retry-After"))
		}
		select {
		case <-time.After(max(delay, asked)):
		case <-ctx.Done():
		}
		delay = min(2*delay, reopenLongest)
	}
}

// eventFilter reads a stream of events and returns one that the library can read: results are
// replaced as the tap requires, and events that are not messages are left out.
type eventFilter struct {
	r      *roundTripper
	body   io.ReadCloser
	in     *bufio.Reader
	out    bytes.Buffer
	err    error
	lastID string
	// retry is the wait before the next stream that the server asked for; 0 = none.
	retry    time.Duration
	messages int
	max      int
	// answers is the id of the request whose answer comes on this stream; nil = none.
	answers json.RawMessage
}

func (r *roundTripper) filter(body io.ReadCloser, answers json.RawMessage) *eventFilter {
	return &eventFilter{r: r, body: body, in: bufio.NewReaderSize(body, 64<<10), max: r.limit, answers: answers}
}

// filterBody filters the body of a response.
func (r *roundTripper) filterBody(resp *http.Response, answers json.RawMessage) {
	resp.Body, resp.ContentLength = r.filter(resp.Body, answers), -1
}

func isEventStream(resp *http.Response) bool {
	return strings.HasPrefix(strings.ToLower(resp.Header.Get("Content-Type")), "text/event-stream")
}

// Read returns the next bytes of the filtered stream.
func (f *eventFilter) Read(p []byte) (int, error) {
	for f.out.Len() == 0 {
		if f.err != nil {
			return 0, f.err
		}
		f.event()
	}
	return f.out.Read(p)
}

// Close closes the stream underneath.
func (f *eventFilter) Close() error { return f.body.Close() }

// event reads one event and writes what the library must see.
func (f *eventFilter) event() {
	var data, other bytes.Buffer
	name, has := "", false
	var finder *rawjson.IDFinder
	for {
		line, long, err := f.line()
		if long != nil {
			finder, has = long, true
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch {
		case long != nil:
		case len(line) == 0 && err == nil:
			if has || other.Len() > 0 {
				f.emit(name, data.Bytes(), other.Bytes(), finder)
				return
			}
		case string(field) == "data":
			if has {
				data.WriteByte('\n')
			}
			has = true
			data.Write(value)
		case string(field) == "event":
			name = string(value)
		case string(field) == "id", string(field) == "retry":
			if string(field) == "id" {
				f.lastID = string(value)
			} else if ms, err := strconv.Atoi(string(value)); err == nil && ms > 0 {
				f.retry = time.Duration(ms) * time.Millisecond
			}
			other.Write(line)
			other.WriteByte('\n')
		}
		if err != nil {
			f.err = err
			if errors.Is(err, io.EOF) && has && finder == nil {
				f.emit(name, data.Bytes(), other.Bytes(), nil) // an event whose empty line is missing
			}
			return
		}
	}
}

// line reads a line without its end. Longer lines than the cap are discarded; long has their id.
func (f *eventFilter) line() (line []byte, long *rawjson.IDFinder, err error) {
	for {
		part, err := f.in.ReadSlice('\n')
		switch {
		case long != nil:
			long.Feed(part)
		case len(line)+len(part) > f.max:
			long = &rawjson.IDFinder{}
			long.Feed(bytes.TrimPrefix(line, []byte("data:")))
			long.Feed(part)
			line = nil
		default:
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimRight(line, "\r\n"), long, err
		}
	}
}

func (f *eventFilter) emit(name string, data, other []byte, long *rawjson.IDFinder) {
	if name != "" && name != "message" {
		f.out.WriteString("event: " + name + "\n")
		f.out.Write(other)
		for line := range bytes.Lines(data) {
			f.out.WriteString("data: " + strings.TrimRight(string(line), "\n") + "\n")
		}
		f.out.WriteByte('\n')
		return
	}
	f.out.Write(other)
	if long != nil {
		if id := long.Response(); id != nil && f.r.tap.isPending(IDKey(id)) {
			f.r.log.Note("a result was discarded: it exceeds the limit of %d bytes", f.max)
			f.fail(id, tooLargeError{f.max}.Error())
		}
		return
	}
	if len(bytes.TrimSpace(data)) == 0 {
		f.out.WriteString("data:\n\n")
		return
	}
	list, err := readEnvelopes(data)
	if err != nil {
		f.r.log.skip(data)
		f.out.WriteByte('\n')
		if f.answers != nil && looksLikeAnswer(data) && f.r.tap.isPending(IDKey(f.answers)) {
			f.fail(f.answers, unreadable(data).Error())
		}
		return
	}
	for _, e := range list {
		if e.method == "" && e.id == nil {
			e.id = f.answers // an error that could not say what it answers
		}
		if e.method != "" || e.id != nil {
			f.message(f.r.tap.see(e))
		}
	}
}

// fail writes a failure as the answer to a request.
func (f *eventFilter) fail(id json.RawMessage, text string) {
	f.message(f.r.tap.failure(id, text))
}

func (f *eventFilter) message(e envelope) {
	f.messages++
	f.out.WriteString("event: message\ndata: ")
	f.out.Write(e.encode())
	f.out.WriteString("\n\n")
}
