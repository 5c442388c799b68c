package endpoint

import (
	"errors"
	"io"
	"net/http"
	"strings"
)

// Exchange is what one attempt learns about its answer, apart from the answer's content. It belongs to the
// goroutine that streams.
type Exchange struct {
	Asked  string // the model's ID
	Silent *Silence

	// For a refusal.
	status  int
	header  http.Header
	refusal []byte
	webPage bool

	// Of a stream.
	Finish  string // the finish reason in OpenAI's words, "" while none came
	Started bool   // something arrived that belongs to an answer
	fault   *Fault
	rubbish string // the beginning of the first thing that is not part of an answer
}

// maxRefusal bounds the body of an error response.
const maxRefusal = 256 << 10

// Refused keeps an error response, or a web page in place of an answer, and reports whether resp is one.
// Redirects that are followed are not.
func (x *Exchange) Refused(resp *http.Response) bool {
	code := resp.StatusCode
	if follows(resp) {
		return false
	}
	if code < 300 && !hasType(resp, "text/html") {
		return false
	}
	x.webPage = code < 300
	x.status, x.header = code, resp.Header
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxRefusal))
	if err != nil {
		body = append(body, "\n(the rest of the answer is missing)"...)
	}
	x.refusal = body
	_ = resp.Body.Close() // read as far as it is of use
	return true
}

// Faulted records an error object inside a stream, and returns an error that ends the stream.
func (x *Exchange) Faulted(raw []byte) error {
	f := ReadFault(raw)
	x.fault = &f
	return errFault
}

// HasFault reports whether the stream carried an error object.
func (x *Exchange) HasFault() bool { return x.fault != nil }

var errFault = errors.New("the stream carries an error")

const maxRubbish = 200

// Junk records what is not part of an answer, for a message in case nothing else arrives.
func (x *Exchange) Junk(p []byte) {
	if x.rubbish == "" {
		x.rubbish = strings.ToValidUTF8(string(p[:min(len(p), maxRubbish)]), "")
	}
}

// Finished records the finish reason, in any provider's words. What follows, usage at most, must arrive soon.
func (x *Exchange) Finished(reason string) {
	x.Finish = finishReason(reason)
	x.Silent.last()
}
