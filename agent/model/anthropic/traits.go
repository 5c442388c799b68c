package anthropic

import (
	"strconv"
	"strings"
)

// thinking is how a model is told to think.
type thinking int

const (
	thinksNot      thinking = iota
	thinksBudget            // with a budget of tokens
	thinksAdaptive          // as it sees fit
)

// traits are what a model's generation understands.
type traits struct {
	thinking    thinking
	always      bool // thinking cannot be switched off
	binds       bool // thinking is bound to the conversation before it
	effort      bool // output_config.effort
	answers     bool // output_config.format
	interleaved bool // thinks between calls only when a header asks for it
	inlineTools bool // tools may be added and removed within the conversation
	maxOutput   int
}

// traitsOf derives a model's generation from its ID, as in claude-opus-4-6 or
// anthropic.claude-3-7-sonnet-20250219-v1:0. An ID without a version is treated as the newest.
func traitsOf(id string) traits {
	family, major, minor := version(id)
	at := func(ma, mi int) bool { return major > ma || major == ma && minor >= mi }
	t := traits{thinking: thinksAdaptive, effort: true, inlineTools: false, maxOutput: 64_000}
	t.always = family == "fable" || family == "mythos" || family == "opus" && at(5, 5)
	t.binds = at(5, 5) || (family == "fable" || family == "mythos") && at(5, 1)
	if major == 0 {
		t.maxOutput = 32_000
		return t
	}
	t.answers = at(4, 5) || family == "opus" && at(4, 1)
	switch {
	case at(5, 0), at(4, 6) && family != "haiku":
		t.maxOutput = 64_000
	case at(4, 0):
		t.thinking, t.effort, t.interleaved, t.maxOutput = thinksBudget, family == "opus" && at(4, 5), true, 32_000
	case at(3, 7):
		t.thinking, t.effort, t.maxOutput = thinksBudget, false, 32_000
	default:
		t.thinking, t.effort, t.maxOutput = thinksNot, false, 4_096
		if at(3, 5) {
			t.maxOutput = 8_192
		}
	}
	t.inlineTools = at(5, 0) && (family != "sonnet" || at(5, 5)) || family == "opus" && at(4, 8)
	return t
}

// version finds family and version in a model's ID.
func version(id string) (family string, major, minor int) {
	_, rest, ok := strings.Cut(strings.ToLower(id), "claude-")
	if !ok {
		return "", 0, 0
	}
	var numbers []int
	for _, part := range strings.FieldsFunc(rest, func(r rune) bool { return r == '-' || r == '.' || r == '@' || r == ':' || r == '_' }) {
		n, err := strconv.Atoi(part)
		switch {
		case err != nil && family == "" && !strings.HasPrefix(part, "v"):
			family = part
		case err == nil && n < 100: // otherwise a date
			numbers = append(numbers, n)
		case err == nil:
			numbers = append(numbers, make([]int, 2)...) // what follows a date is not a version
		}
	}
	if len(numbers) > 0 {
		major = numbers[0]
	}
	if len(numbers) > 1 {
		minor = numbers[1]
	}
	return family, major, minor
}
