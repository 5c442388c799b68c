package builtin

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"mvdan.cc/sh/v3/syntax"

	"jcode/internal/terminal"
	"jcode/internal/text"
	"jcode/tools"
)

// typedLine is the line of a shell that is being typed, as far as it is known.
type typedLine struct {
	text string
	// unknown says that the line is not only what was typed: keys edited it, something completed it, or a person typed too. It
	// may also be the rest of a command that was not complete.
	unknown bool
}

// typing is what one call types: a text, then keys.
type typing struct {
	text string
	keys []string
}

// asked is what of a typing must be judged, and as what.
type asked struct {
	text    string
	command bool // it is a command line for a shell
	after   typedLine
}

// judged says what must be judged when something is typed for a reader. Named keys need no judgement, unless Enter would run a
// line of a shell that nobody has seen as a whole.
func (l typedLine) judged(r terminal.Reader, in typing) (out asked) {
	if !r.Shell {
		out.after.unknown = in.text != "" && !strings.HasSuffix(in.text, "\n") // a shell that returns may get the rest
		out.text = in.text
		if slices.ContainsFunc(in.keys, givesUp) {
			out.after = typedLine{}
		}
		return out
	}
	line := l
	if in.text != "" {
		line.text += in.text
		out.text, out.command = line.text, !line.unknown && plainLine(line.text)
		done, ended := complete(line.text)
		switch {
		case !out.command || ended && !done:
			out.text, out.command = in.text, false
			line = typedLine{unknown: true}
		case ended:
			line = typedLine{}
		}
	}
	for _, key := range in.keys {
		switch name := strings.ToLower(key); {
		case givesUp(name):
			line = typedLine{}
		case name == "enter" || name == "return":
			if line.unknown && out.text == "" {
				out.text = "(Enter, for a line that keys or the user have edited)"
			}
			if done, _ := complete(line.text + "\n"); done && !line.unknown {
				line = typedLine{}
			} else {
				line = typedLine{unknown: true}
			}
		default:
			line.unknown = true
		}
	}
	out.after = line
	return out
}

// givesUp reports whether a key gives up the line of a shell.
func givesUp(key string) bool {
	return slices.Contains([]string{"ctrl-c", "ctrl+c"}, strings.ToLower(key))
}

// plainLine reports whether a shell takes a text as it stands: without keys, completion or its history.
func plainLine(s string) bool {
	return !strings.ContainsAny(s, "!^") && !strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) && r != '\n' })
}

// complete reports whether a text ends a line, and whether all of its commands are complete then.
func complete(s string) (done, ended bool) {
	if !strings.HasSuffix(s, "\n") {
		return false, false
	}
	_, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(s), "")
	return err == nil && !strings.HasSuffix(strings.TrimRight(s, "\n"), "\\"), true
}

// access returns what the gate judges of it; ok is false if there is nothing to judge.
func (a asked) access(j *job, r terminal.Reader) (access tools.Access, ok bool) {
	if a.text == "" {
		return tools.Access{}, false
	}
	running := &tools.Running{Confined: j.cmd.sandboxed || j.cmd.reading}
	if a.command {
		return tools.Access{Kind: tools.AccessExec, Command: strings.TrimRight(a.text, "\n"), Bash: r.Bash, Dir: r.Dir, Running: running}, true
	}
	return tools.Access{Kind: tools.AccessInput, Command: a.text, Target: fmt.Sprintf("%s in job %d", j.reads(r), j.id), Hash: j.hash, Running: running}, true
}

// reads names the program that reads what is typed into a job.
func (j *job) reads(r terminal.Reader) string {
	if r.Name != "" {
		return r.Name
	}
	first, _, _ := strings.Cut(strings.TrimSpace(j.cmd.line), " ")
	return text.Brief(first)
}
