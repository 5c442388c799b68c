package shell

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// maxLine bounds what is parsed, in bytes: the parser recurses, and a longer line is never vouched for.
const maxLine = 64 << 10

// unreadable says why a text must not be parsed: a shell and a parser may not agree on such bytes.
func unreadable(src string) string {
	if len(src) > maxLine {
		return fmt.Sprintf("it is longer than %d KiB", maxLine>>10)
	}
	if !utf8.ValidString(src) {
		return "it holds bytes that are not text"
	}
	for _, r := range src {
		switch {
		case r == '\n' || r == '\t':
		case unicode.IsControl(r):
			return fmt.Sprintf("it holds the control character %U", r)
		case unicode.Is(unicode.Cf, r) || r != ' ' && unicode.IsSpace(r):
			return fmt.Sprintf("it holds the invisible character %U", r)
		}
	}
	return ""
}

// maxParse bounds the time of one parse: a text that nests thousands of brackets takes seconds; no ordinary
// command does.
const maxParse = 150 * time.Millisecond

func parse(src string, lang syntax.LangVariant) (*syntax.File, error) {
	return syntax.NewParser(syntax.Variant(lang)).Parse(&deadlineReader{r: strings.NewReader(src), until: time.Now().Add(maxParse)}, "")
}

var errImpatient = errors.New("it takes too long to read")

// deadlineReader fails once its deadline has passed.
type deadlineReader struct {
	r     io.Reader
	until time.Time
}

func (i *deadlineReader) Read(p []byte) (int, error) {
	if time.Now().After(i.until) {
		return 0, errImpatient
	}
	return i.r.Read(p)
}

func printed(f *syntax.File) string {
	var b bytes.Buffer
	if err := syntax.NewPrinter().Print(&b, f); err != nil {
		return "\x00" + err.Error() // equal to nothing that was printed
	}
	return b.String()
}

func parseReason(err error) string {
	_, reason, ok := strings.Cut(err.Error(), ": ")
	if !ok {
		return err.Error()
	}
	return reason
}

// source prints a node as shell text.
func source(n syntax.Node) string {
	var b bytes.Buffer
	if err := syntax.NewPrinter().Print(&b, n); err != nil {
		return "?"
	}
	return strings.TrimSpace(b.String())
}
