package tools

import "fmt"

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
	for _, m := range Modes() {
		if string(m) == s {
			return m, nil
		}
	}
	return "", fmt.Errorf("unknown mode %q: use plan, ask, edits, auto or yolo", s)
}

func (m Mode) rank() int {
	for i, x := range Modes() {
		if x == m {
			return i
		}
	}
	return 1
}

// Under returns the stricter of m and ceiling; an empty ceiling changes nothing.
func (m Mode) Under(ceiling Mode) Mode {
	if ceiling == "" || m.rank() <= ceiling.rank() {
		return m
	}
	return ceiling
}
