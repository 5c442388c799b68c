package wire

import (
	"bytes"
	"slices"
	"strings"

	"jcode/internal/pattern"
	"jcode/internal/text"
)

const (
	// keptReasons and longestReason bound the lines of stderr that are kept to explain an exit.
	keptReasons   = 24
	longestReason = 300
	shownReasons  = 3
)

// reasons keeps the lines of a program's stderr that can explain its end. Stack frames, source
// excerpts and version lines are left out, because a trace would displace everything else.
type reasons struct {
	// first is the first line that names an error, last are the latest lines.
	first   string
	last    []string
	partial []byte
	trace   bool // a Python trace, whose last line names the error
	goTrace bool // the goroutines of a Go program follow
}

// write processes a chunk of stderr.
func (r *reasons) write(p []byte) {
	for len(p) > 0 {
		line, rest, ended := bytes.Cut(p, []byte{'\n'})
		if room := 4*longestReason - len(r.partial); room > 0 {
			r.partial = append(r.partial, line[:min(len(line), room)]...)
		}
		if ended {
			r.line(string(r.partial))
			r.partial = r.partial[:0]
		}
		p = rest
	}
}

func (r *reasons) line(raw string) {
	s := text.Clean(text.Valid(raw))
	trimmed := strings.TrimSpace(s)
	switch {
	case trimmed == "" || r.goTrace || isFrame(s, trimmed):
		return
	case strings.HasPrefix(trimmed, "goroutine "):
		r.goTrace = true
		return
	case strings.HasPrefix(trimmed, "Traceback (most recent call last)"):
		r.trace, r.first = true, ""
		return
	}
	trimmed = text.Ellipsis(trimmed, longestReason)
	if (r.first == "" || r.trace) && mayNameError(trimmed) && errorLine().MatchString(trimmed) {
		r.first = trimmed
	}
	if r.last = append(r.last, trimmed); len(r.last) > keptReasons {
		r.last = slices.Delete(r.last, 0, 1)
	}
}

// errorLine matches the start of error lines of programs in common languages.
var errorLine = pattern.Lazy(`^(Uncaught |Unhandled |Caused by: |Exception in thread "[^"]*" |error: |\[cause\]: )*([\w.$]*(Error|Exception|Panic)\b(\s*\[[\w-]+\])?(:|$)|[Ff]atal( error)?:|FATAL\b|panic:|thread '.*' panicked|\*\* \(\w+\)|error(\[\w+\])?:|.*: .* \(\w+Error\)$)`)

// mayNameError reports whether a line contains a word that errorLine needs. It is quick: a program
// may write thousands of lines a second.
func mayNameError(line string) bool {
	return slices.ContainsFunc([]string{"rror", "xception", "anic", "atal", "FATAL", "**"}, func(word string) bool { return strings.Contains(line, word) })
}

// isFrame reports whether a line is a stack frame, a piece of source or a version line of a
// crash report.
func isFrame(line, trimmed string) bool {
	indented := line != strings.TrimLeft(line, " \t")
	switch {
	case strings.Trim(trimmed, "^~ {}[](),;") == "":
		return true // it marks a place in the line above, or closes a value
	case indented && (strings.HasPrefix(trimmed, "at ") || strings.HasPrefix(trimmed, "from ") || strings.HasPrefix(trimmed, `File "`)):
		return true
	case indented && (strings.HasPrefix(trimmed, "...") || frameNumber().MatchString(trimmed)):
		return true
	}
	last := trimmed[len(trimmed)-1]
	return strings.IndexByte("NBD[", trimmed[0]) >= 0 && versionLine().MatchString(trimmed) ||
		last >= '0' && last <= '9' && sourcePlace().MatchString(trimmed) || strings.HasPrefix(trimmed, "throw ") ||
		strings.HasPrefix(trimmed, "note: run with `RUST_BACKTRACE") || strings.HasPrefix(trimmed, "stack backtrace:")
}

var (
	frameNumber = pattern.Lazy(`^\d+: `) // of a Rust backtrace
	versionLine = pattern.Lazy(`^(Node\.js v\d|Bun v\d|Deno \d|\[signal SIG)`)
	sourcePlace = pattern.Lazy(`^(file://|node:|/|[A-Za-z]:\\)\S*:\d+(:\d+)?$`)
)

// text joins the lines that explain an exit: the one that names the error, then the last others.
func (r *reasons) text() string {
	lines := r.last
	if tail := strings.TrimSpace(string(r.partial)); tail != "" {
		lines = append(slices.Clone(lines), text.Ellipsis(text.Clean(text.Valid(tail)), longestReason))
	}
	room := shownReasons
	var out []string
	if r.first != "" && !slices.Contains(lines[max(0, len(lines)-room):], r.first) {
		out = append(out, r.first)
		room--
	} else if at := slices.Index(lines, r.first); at >= 0 && r.first != "" {
		// What follows the error explains it; what came before does not.
		lines = lines[at:]
		if len(lines) > room {
			lines = lines[:room]
		}
	}
	return strings.Join(append(out, lines[max(0, len(lines)-room):]...), " | ")
}
