package cli

import (
	"io"
	"os"
	"strings"
	"sync"

	"jcode/internal/text"
)

// door is the one way to a terminal for all that is printed outside the chat: lists, errors,
// notices and answers. What others wrote (a project's files, servers, the model) is among
// it, so control sequences are taken out here, whoever prints.
type door struct {
	file *os.File

	mu       sync.Mutex
	stripper text.Stripper
}

// cleaned returns a writer to a file, which cleans what it writes where that is a terminal.
// Elsewhere the bytes are a program's own business.
func cleaned(file *os.File) io.Writer {
	if !isTerminal(file) {
		return file
	}
	return &door{file: file}
}

// Write writes what is left of p. A sequence that p begins is held back until its end comes.
func (d *door) Write(p []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	clean := strings.ReplaceAll(d.stripper.Next(p), "\r\n", "\n")
	clean = strings.ReplaceAll(clean, "\r", "") // it would write over what stands in the line
	if _, err := io.WriteString(d.file, clean); err != nil {
		return 0, err
	}
	return len(p), nil
}

// behind returns the file behind a door, for a program of the person's own that takes the
// terminal over, such as an editor.
func behind(w io.Writer) io.Writer {
	if d, ok := w.(*door); ok {
		return d.file
	}
	return w
}
