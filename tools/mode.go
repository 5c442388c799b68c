package tools

import (
	"fmt"
	"slices"
)

// Mode is an approval mode: how much runs without asking.
type Mode string

// The modes, from the strictest to the most permissive.
const (
	ModePlan  Mode = "plan"  // reads only
	ModeAsk   Mode = "ask"   // edits and commands ask (the default)
	ModeEdits Mode = "edits" // edits in the workspace run
	ModeAuto  Mode = "auto"  // commands run inside the sandbox
	ModeYolo  Mode = "yolo"  // everything runs, never silently
)

// Modes returns all modes, from the strictest to the most permissive.
func Modes() []Mode { return []Mode{ModePlan, ModeAsk, ModeEdits, ModeAuto, ModeYolo} }

// ParseMode parses a mode's name.
func ParseMode(s string) (Mode, error) {
	if slices.Contains(Modes(), Mode(s)) {
		return Mode(s), nil
	}
	return "", fmt.Errorf("unknown mode %q: use plan, ask, edits, auto or yolo", s)
}

// rank returns the mode's index in Modes; an unknown one counts as ModeAsk.
func (m Mode) rank() int {
	if i := slices.Index(Modes(), m); i >= 0 {
		return i
	}
	return slices.Index(Modes(), ModeAsk)
}

// Under returns the stricter of m and ceiling; an empty ceiling changes nothing.
func (m Mode) Under(ceiling Mode) Mode {
	if ceiling == "" || m.rank() <= ceiling.rank() {
		return m
	}
	return ceiling
}
