package stream

// Response (response) is the answer to a line.
type Response struct {
	Type    string `json:"type"`
	Line    int    `json:"line"`
	Request string `json:"request,omitempty"`
	OK      bool   `json:"ok"`
	// Error says why it was not done, Kind is what kind of error that is: invalid, refused, gone, busy, failed.
	Error string `json:"error,omitempty"`
	Kind  string `json:"kind,omitempty"`
	// Result is what the type of line answers, if anything.
	Result any `json:"result,omitempty"`
}

// Prompted is the result of a prompt: its ID, by which results and other events call it. A command that did all there
// was to do has none; Said is what it says.
type Prompted struct {
	ID   string `json:"id,omitempty"`
	Said string `json:"said,omitempty"`
}

// Answer returns the response to a line.
func Answer(l Line, result any) Response {
	return Response{Type: "response", Line: l.N, Request: l.Request, OK: true, Result: result}
}

// Refuse returns the response to a line that was not done.
func Refuse(l Line, kind, words string) Response {
	return Response{Type: "response", Line: l.N, Request: l.Request, Error: words, Kind: kind}
}
