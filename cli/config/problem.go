package config

import (
	"fmt"
	"strings"
)

// Problem is a fault in a file. What it concerns is omitted; the rest of the file is applied.
type Problem struct {
	File string `json:"file"`
	Line int    `json:"line,omitempty"` // 1-based, 0 for the file as a whole
	Col  int    `json:"col,omitempty"`  // 1-based, in bytes
	// Key is the dotted path of the setting, empty for the file as a whole.
	Key string `json:"key,omitempty"`
	// Text says what is wrong and how to fix it.
	Text string `json:"text"`
	// Harmless problems have no effect: an unknown key, a duplicate one.
	Harmless bool `json:"harmless,omitempty"`
}

// LosesRules says that rules which forbid or ask may be missing because of it: they are in a part of a file
// that can't be read.
func (p Problem) LosesRules() bool {
	if p.Harmless {
		return false
	}
	for _, part := range []string{"permissions.deny", "permissions.ask"} {
		if p.Key == "" || p.Key == "permissions" || strings.HasPrefix(p.Key, part) {
			return true
		}
	}
	return false
}

// String returns `file:line: key: text`.
func (p Problem) String() string {
	var b strings.Builder
	b.WriteString(p.File)
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d", p.Line)
		if p.Key == "" {
			fmt.Fprintf(&b, ":%d", p.Col)
		}
	}
	b.WriteString(": ")
	if p.Key != "" {
		b.WriteString(p.Key + ": ")
	}
	b.WriteString(p.Text)
	return b.String()
}
