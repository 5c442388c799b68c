package model

// Opaque is a part of an answer that only its own protocol understands: a thinking block with its signature,
// an encrypted reasoning item, a thought signature. It is kept unchanged and sent back to where it came from,
// at its place among the text and the calls of its message.
type Opaque struct {
	// Protocol, Provider and Model say where it came from.
	Protocol string `json:"protocol"`
	Provider string `json:"provider,omitempty"`
	Model    string `json:"model"`
	// Kind is the protocol's own word for what Raw holds.
	Kind string `json:"kind"`
	// Raw is its JSON, byte for byte.
	Raw string `json:"raw,omitempty"`
	// Text and Calls count the bytes of text and the calls of the message that precede it.
	Text  int `json:"text,omitempty"`
	Calls int `json:"calls,omitempty"`
}
