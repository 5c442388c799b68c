package model

// EstimateBytes estimates the tokens of a number of bytes.
func EstimateBytes(bytes int) int { return (bytes + 3) / 4 }

// EstimateText estimates the tokens of a text: its bytes divided by four.
func EstimateText(s string) int { return EstimateBytes(len(s)) }

// imageTokens is roughly what a picture costs: providers count tiles of it.
const imageTokens = 1000

// EstimateMessage estimates the tokens of a message, including its overhead.
func EstimateMessage(m *Message) int {
	n := len(m.Text) + len(m.Reasoning)
	for i := range m.Calls {
		n += len(m.Calls[i].Name) + len(m.Calls[i].Arguments) + 40
	}
	tokens := EstimateBytes(n) + 4
	for i := range m.Images {
		// A document is both read as text and shown as pages.
		tokens += max(imageTokens, 2*EstimateText(m.Images[i].Text))
	}
	return tokens
}

// EstimateTool estimates the tokens of a tool's schema and description.
func EstimateTool(t *Tool) int {
	return EstimateBytes(len(t.Name)+len(t.Description)+len(t.Parameters)) + 8
}

// EstimateRequest estimates the tokens of a whole request.
func EstimateRequest(r *Request) int {
	n := EstimateText(r.System) + 4
	for i := range r.Tools {
		n += EstimateTool(&r.Tools[i])
	}
	for i := range r.Messages {
		n += EstimateMessage(&r.Messages[i])
	}
	return n
}
