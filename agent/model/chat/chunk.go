package chat

import (
	"bytes"

	"jcode/agent/model"
	"jcode/agent/model/endpoint"
)

// chunk is what one payload of a stream says, whatever the server. Its byte slices are JSON text with its
// escapes; they point into the line or into scratch.
type chunk struct {
	text      []byte
	reasoning []byte
	calls     []callDelta
	details   [][]byte // elements of reasoning_details
	message   []byte   // extra_content of the message
	finish    []byte
	model     []byte
	tier      []byte
	usage     model.Usage
	hasUsage  bool
	fault     []byte // the value of an error member
	known     bool   // it has at least one field that belongs to a stream
	isError   bool   // its type is "error"
	whole     bool   // it is a whole answer, not a delta

	detailed     []byte // the text in reasoning_details: used only without the others
	altReasoning []byte // `reasoning`, `thinking`: used only without reasoning_content
	scratch      []byte
	sc           scanner
}

// callDelta is one piece of a tool call.
type callDelta struct {
	index    int
	hasIndex bool
	hasType  bool
	id       []byte
	name     []byte
	args     []byte
	extra    []byte // JSON that must be sent back with the call, such as a thought signature
}

// parse reads a payload. It returns errShort when the payload is only the beginning of one.
func (c *chunk) parse(payload []byte) error {
	*c = chunk{calls: c.calls[:0], details: c.details[:0], scratch: c.scratch[:0]}
	c.sc = scanner{b: payload}
	if err := c.sc.object(c.member); err != nil {
		return err
	}
	if c.isError && c.fault == nil && !c.known {
		c.fault = payload
	}
	if len(c.reasoning) == 0 {
		c.reasoning = c.altReasoning
	}
	if len(c.reasoning) == 0 {
		c.reasoning = c.detailed
	}
	return nil
}

func (c *chunk) member(key []byte) error {
	switch string(key) {
	case "choices":
		c.known = true
		return c.list(c.choice)
	case "usage":
		return c.readUsage()
	case "x_groq":
		return c.inner(func(key []byte) error {
			switch string(key) {
			case "usage":
				return c.readUsage()
			case "error":
				return c.readFault()
			}
			return c.sc.skip()
		})
	case "model":
		return c.stringInto(&c.model)
	case "service_tier":
		return c.stringInto(&c.tier)
	case "error", "detail":
		return c.readFault()
	case "type": // an error object on its own
		c.isError = c.sc.peek() == '"' && bytes.HasPrefix(c.sc.b[c.sc.i:], []byte(`"error"`))
		return c.sc.skip()
	}
	return c.sc.skip()
}

// list visits the elements of an array, or a single object in place of one; null and other values are
// skipped.
func (c *chunk) list(visit func(n int) error) error {
	switch c.sc.peek() {
	case '[':
		return c.sc.array(visit)
	case '{':
		return visit(0)
	}
	return c.sc.skip()
}

// inner visits the fields of an object; null and other values are skipped.
func (c *chunk) inner(visit func(key []byte) error) error {
	if c.sc.peek() != '{' {
		return c.sc.skip()
	}
	return c.sc.object(visit)
}

// choice reads one element of choices. Only one answer is ever asked for, so all elements belong to it. A
// whole message beside a delta repeats what was said and is ignored.
func (c *chunk) choice(int) error {
	var message []byte
	isDelta := false
	err := c.inner(func(key []byte) error {
		switch string(key) {
		case "message":
			var err error
			message, err = c.sc.value()
			return err
		case "delta":
			isDelta = isDelta || c.sc.peek() == '{'
			return c.inner(c.delta)
		case "text": // the legacy completion form
			return c.content(&c.text)
		case "finish_reason":
			return c.stringInto(&c.finish)
		case "usage":
			return c.readUsage()
		case "error":
			return c.readFault()
		}
		return c.sc.skip()
	})
	if err != nil || isDelta || len(message) == 0 || message[0] != '{' {
		return err
	}
	c.whole = true
	outer := c.sc
	c.sc = scanner{b: message}
	err = c.inner(c.delta)
	c.sc = outer
	return err
}

func (c *chunk) delta(key []byte) error {
	switch string(key) {
	case "content", "refusal":
		return c.content(&c.text)
	case "reasoning_content":
		return c.content(&c.reasoning)
	case "reasoning", "thinking":
		return c.content(&c.altReasoning)
	case "reasoning_details":
		return c.list(c.detail)
	case "extra_content":
		raw, err := c.sc.value()
		if len(raw) > 0 && raw[0] == '{' {
			c.message = raw
		}
		return err
	case "tool_calls":
		return c.list(c.call)
	case "function_call":
		if c.sc.peek() != '{' {
			return c.sc.skip()
		}
		c.calls = append(c.calls, callDelta{})
		err := c.inner(c.function)
		c.dropEmptyCall()
		return err
	case "usage":
		return c.readUsage()
	}
	return c.sc.skip()
}

// content reads text: a string, or a list of parts.
func (c *chunk) content(to *[]byte) error {
	switch c.sc.peek() {
	case '"':
		raw, dirty, err := c.sc.str()
		if err == nil {
			c.join(to, raw, dirty)
		}
		return err
	case '[':
		return c.sc.array(func(int) error { return c.part(to) })
	}
	return c.sc.skip()
}

// part reads one content part; thinking goes to the reasoning.
func (c *chunk) part(to *[]byte) error {
	if c.sc.peek() == '"' {
		return c.content(to)
	}
	return c.inner(func(key []byte) error {
		switch string(key) {
		case "text":
			return c.content(to)
		case "thinking", "reasoning":
			return c.content(&c.reasoning)
		}
		return c.sc.skip()
	})
}

// join appends raw to *to; the usual single string is not copied.
func (c *chunk) join(to *[]byte, raw []byte, dirty bool) {
	if len(*to) == 0 && !dirty {
		*to = raw
		return
	}
	start := len(c.scratch)
	c.scratch = append(c.scratch, *to...)
	if dirty {
		c.scratch = clean(c.scratch, raw)
	} else {
		c.scratch = append(c.scratch, raw...)
	}
	*to = c.scratch[start:len(c.scratch):len(c.scratch)]
}

// stringInto reads a string; null and other values are treated as absent.
func (c *chunk) stringInto(to *[]byte) error {
	if c.sc.peek() != '"' {
		return c.sc.skip()
	}
	raw, dirty, err := c.sc.str()
	if err == nil {
		*to = nil
		c.join(to, raw, dirty)
	}
	return err
}

func (c *chunk) call(int) error {
	if c.sc.peek() != '{' {
		return c.sc.skip()
	}
	c.calls = append(c.calls, callDelta{})
	d := len(c.calls) - 1
	defer c.dropEmptyCall()
	return c.sc.object(func(key []byte) error {
		switch string(key) {
		case "index":
			n, ok, err := c.sc.number()
			c.calls[d].index, c.calls[d].hasIndex = n, ok
			return err
		case "id":
			return c.stringInto(&c.calls[d].id)
		case "extra_content":
			raw, err := c.sc.value()
			if len(raw) > 0 && raw[0] == '{' {
				c.calls[d].extra = raw
			}
			return err
		case "type":
			c.calls[d].hasType = c.sc.peek() == '"'
			return c.sc.skip()
		case "function":
			return c.inner(c.function)
		case "name", "arguments": // some servers omit the function object
			return c.function(key)
		}
		return c.sc.skip()
	})
}

// dropEmptyCall removes the last call if it is empty: some servers send an empty one along with text.
func (c *chunk) dropEmptyCall() {
	last := len(c.calls) - 1
	if d := &c.calls[last]; len(d.id)+len(d.name)+len(d.args)+len(d.extra) == 0 {
		c.calls = c.calls[:last]
	}
}

// detail reads one element of reasoning_details: it is sent back unchanged, and its text or summary is shown
// if no other field holds it.
func (c *chunk) detail(int) error {
	raw, err := c.sc.value()
	if err != nil || len(raw) == 0 || raw[0] != '{' {
		return err
	}
	c.details = append(c.details, raw)
	outer := c.sc
	c.sc = scanner{b: raw}
	err = c.sc.object(func(key []byte) error {
		switch string(key) {
		case "text", "summary":
			return c.content(&c.detailed)
		}
		return c.sc.skip()
	})
	c.sc = outer
	return err
}

// function reads a field of the last call's function object.
func (c *chunk) function(key []byte) error {
	d := &c.calls[len(c.calls)-1]
	switch string(key) {
	case "name":
		return c.stringInto(&d.name)
	case "arguments":
		return c.arguments(d)
	}
	return c.sc.skip()
}

// arguments reads a string, or an object that a server did not encode as a string.
func (c *chunk) arguments(d *callDelta) error {
	if b := c.sc.peek(); b != '{' && b != '[' {
		return c.stringInto(&d.args)
	}
	raw, err := c.sc.value()
	if err != nil {
		return err
	}
	start := len(c.scratch)
	c.scratch = endpoint.AppendEscaped(c.scratch, string(raw))
	d.args = c.scratch[start:len(c.scratch):len(c.scratch)]
	return nil
}

func (c *chunk) readFault() error {
	raw, err := c.sc.value()
	if s := string(raw); err == nil && s != "null" && s != "false" && s != `""` && s != "{}" {
		c.fault = raw
	}
	return err
}
