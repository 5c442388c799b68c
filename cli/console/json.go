package console

import (
	"bufio"
	"encoding/json"
	"io"
)

// PrintJSON writes a value as indented JSON.
func PrintJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// WriteLine writes a line at once.
func WriteLine(out *bufio.Writer, line []byte) {
	out.Write(line)     //nolint:errcheck // the error sticks and comes with Flush
	out.WriteByte('\n') //nolint:errcheck // as above
	out.Flush()         //nolint:errcheck // checked at the end
}
