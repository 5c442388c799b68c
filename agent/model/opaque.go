package model

import "strings"

// Opaque is a part of an answer that only the protocol which it came over understands: a
// thinking block with its signature, an encrypted reasoning item, a thought signature. It is
// kept as it came and sent back to where it came from, in its place among the text and the
// calls of its message.
type Opaque struct {
	// Protocol, Provider and Model say where it came from.
	Protocol string `json:"protocol"`
	Provider string `json:"provider,omitempty"`
	Model    string `json:"model"`
	// Kind is the protocol's own word for what Raw holds.
	Kind string `json:"kind"`
	// Raw is its JSON, byte for byte.
	Raw string `json:"raw,omitempty"`
	// Text and Calls count the bytes of text and the calls of the message before it.
	Text  int `json:"text,omitempty"`
	Calls int `json:"calls,omitempty"`
}

// GoesBackTo reports whether the part may be sent to a model: over the protocol and to the
// provider that it came from, and to a model of the same family.
func (o Opaque) GoesBackTo(protocol, provider, model string) bool {
	return o.Protocol == protocol && o.Provider == provider && (o.Model == model || Family(o.Model) == Family(model))
}

// Family is what the models of one make share: the longest name of the catalogue that an ID
// begins with, or the ID itself.
func Family(id string) string {
	if e := find(id); e != nil {
		return e.name
	}
	return strings.ToLower(id)
}
