package history

import "jcode/agent/model"

// Measure estimates the size of the next request.
type Measure struct {
	// known is the provider's count for the first at messages.
	known, at int
	// tools is the size of the tool definitions.
	tools int
}

// Saw records what the provider counted for a request and its answer.
func (m *Measure) Saw(u model.Usage, messages int) {
	if !u.Estimated && !u.Summed && u.Input > 0 {
		m.known, m.at = u.Input+u.Output, messages
	}
}

// Known reports whether the next estimate is based on the provider's count.
func (m *Measure) Known() bool { return m.known > 0 }

// Offer takes note of the tools that go with each request.
func (m *Measure) Offer(offered []model.Tool) { m.tools = toolTokens(offered) }

// Tools is the size of the tool definitions.
func (m *Measure) Tools() int { return m.tools }

// Forget discards the counts, because the history has changed.
func (m *Measure) Forget() { m.known, m.at = 0, 0 }

// Expect returns the tokens that the next request needs, estimated where the provider has not counted.
func (m *Measure) Expect(system string, offered []model.Tool, history *Transcript) int {
	if offered != nil {
		m.Offer(offered)
	}
	if m.known > 0 && m.at <= len(history.messages) {
		return m.known + Tokens(history.messages[m.at:])
	}
	return model.EstimateText(system) + m.tools + history.tokens
}

// Tokens estimates the size of messages.
func Tokens(history []model.Message) int {
	n := 0
	for i := range history {
		n += model.EstimateMessage(&history[i])
	}
	return n
}

func toolTokens(list []model.Tool) int {
	n := 0
	for i := range list {
		n += model.EstimateTool(&list[i])
	}
	return n
}
