package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"jcode/internal/ordered"
	"jcode/internal/rawjson"
	"jcode/internal/schema"
)

// envelope is a JSON-RPC message with its payloads as they came. The slices point into
// the frame.
type envelope struct {
	id     json.RawMessage
	method string
	params json.RawMessage
	result json.RawMessage
	err    json.RawMessage
	other  bool // it has members that no JSON-RPC message has
}

// errNoMessage reports that a frame is not a JSON-RPC 2.0 message.
var errNoMessage = errors.New("not a JSON-RPC message")

// readEnvelopes reads a frame: one message or a batch. Extra members are ignored. Of a batch the
// readable messages are returned.
func readEnvelopes(frame []byte) ([]envelope, error) {
	frame = bytes.TrimSpace(bytes.TrimPrefix(bytes.TrimSpace(frame), []byte("\xef\xbb\xbf")))
	if len(frame) == 0 || frame[0] != '{' && frame[0] != '[' || !json.Valid(frame) {
		return nil, errNoMessage
	}
	if frame[0] == '{' {
		e, ok := readEnvelope(frame)
		if !ok {
			return nil, errNoMessage
		}
		return []envelope{e}, nil
	}
	var out []envelope
	for item := range rawjson.EachItem(frame) {
		if e, ok := readEnvelope(item); ok {
			out = append(out, e)
		}
	}
	if len(out) == 0 {
		return nil, errNoMessage
	}
	return out, nil
}

// readEnvelope takes a valid JSON object apart without copying.
func readEnvelope(data []byte) (envelope, bool) {
	var e envelope
	if len(data) == 0 || data[0] != '{' {
		return e, false
	}
	version := false
	for name, value := range rawjson.EachMember(data) {
		switch name {
		case "jsonrpc":
			version = rawjson.String(value) == "2.0"
		case "id":
			e.id = value
		case "method":
			e.method = rawjson.String(value)
		case "params":
			e.params = value
		case "result":
			e.result = value
		case "error":
			if !rawjson.Null(value) {
				e.err = value
			}
		default:
			e.other = true
		}
	}
	if rawjson.Null(e.id) {
		e.id = nil
	}
	return e, version && (e.method != "" || e.id != nil || e.err != nil)
}

// IDKey returns the canonical form of an id: `1`, `1.0` and `"1"` are the same. Our own ids are
// whole numbers, so a response matches its call however the server writes the id.
func IDKey(raw json.RawMessage) string {
	s := string(raw)
	if rawjson.Kind(raw) == "a string" {
		s = rawjson.String(raw)
	}
	if f, err := strconv.ParseFloat(s, 64); err == nil && f == float64(int64(f)) {
		return strconv.FormatInt(int64(f), 10)
	}
	return "s:" + s
}

// message returns the form that the protocol library reads.
func (e envelope) message() (jsonrpc.Message, error) {
	id, err := e.messageID()
	if err != nil {
		return nil, err
	}
	if e.method != "" {
		return &jsonrpc.Request{ID: id, Method: e.method, Params: e.params}, nil
	}
	resp := &jsonrpc.Response{ID: id, Result: e.result}
	if e.err != nil {
		resp.Result, resp.Error = nil, wireError(e.err)
	}
	return resp, nil
}

func (e envelope) messageID() (jsonrpc.ID, error) {
	if e.id == nil {
		return jsonrpc.ID{}, nil
	}
	var v any
	if err := json.Unmarshal(e.id, &v); err != nil {
		return jsonrpc.ID{}, err
	}
	// Only the id of a response may be normalised; that of a request is returned as it came.
	if key := IDKey(e.id); e.method == "" && key[0] != 's' {
		n, err := strconv.ParseFloat(key, 64)
		if err != nil {
			return jsonrpc.ID{}, err
		}
		v = n
	}
	return jsonrpc.MakeID(v)
}

// wireError reads an error member in any form.
func wireError(raw json.RawMessage) error {
	var e jsonrpc.Error
	if json.Unmarshal(raw, &e) == nil && (e.Message != "" || e.Code != 0) {
		return &e
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: rawjson.Text(raw)}
}

// encode writes a message as JSON. A response's id is written as jcode chose it.
func (e envelope) encode() []byte {
	var b bytes.Buffer
	b.WriteString(`{"jsonrpc":"2.0"`)
	if e.id != nil {
		id := e.id
		if key := IDKey(e.id); e.method == "" && key[0] != 's' {
			id = json.RawMessage(key)
		}
		b.WriteString(`,"id":`)
		b.Write(id)
	}
	if e.method != "" {
		b.WriteString(`,"method":`)
		b.Write(ordered.AppendText(nil, e.method))
		if e.params != nil {
			b.WriteString(`,"params":`)
			b.Write(e.params)
		}
	} else if e.err != nil {
		b.WriteString(`,"error":`)
		var err bytes.Buffer
		if wire := wireError(e.err); json.NewEncoder(&err).Encode(wire) == nil {
			b.Write(bytes.TrimSpace(err.Bytes()))
		} else {
			b.Write(e.err)
		}
	} else {
		result := e.result
		if result == nil {
			result = json.RawMessage("null")
		}
		b.WriteString(`,"result":`)
		b.Write(result)
	}
	b.WriteByte('}')
	return b.Bytes()
}

// failure returns an error in place of the answer to a request, which is no longer pending.
func (t *Tap) failure(id json.RawMessage, text string) envelope {
	t.forget(IDKey(id))
	return envelope{id: id, err: schema.Print(ordered.New("code", jsonrpc.CodeInternalError, "message", text))}
}
