package console

import (
	"io"
	"os"
	"strings"
	"sync"

	"jcode/internal/text"
)

// maxHeld bounds what a door holds back of a sequence whose end has not come yet.
const maxHeld = 64

// door is the only way to a terminal for what is printed outside the chat: lists, errors, notices and answers.
// Part of it was written by others (a project's files, servers, the model), so control sequences are removed
// here, whoever prints.
type door struct {
	file *os.File

	mu       sync.Mutex
	stripper text.Stripper
}

// Clean returns a writer to a file that cleans what it writes if the file is a terminal. Anything else gets
// the bytes as they are: a program reads them.
func Clean(file *os.File) io.Writer {
	if !isTerminal(file) {
		return file
	}
	return &door{file: file}
}

func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && info.Name() != os.DevNull && isTTY(f)
}

// Write writes what remains of p. The beginning of a sequence is held back until the next write, but never
// beyond the end of a line: text that follows can't be hidden by a sequence without an end.
func (d *door) Write(p []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	clean := d.stripper.Next(p)
	if d.stripper.Held() > maxHeld || len(p) > 0 && p[len(p)-1] == '\n' {
		clean += d.stripper.Flush()
	}
	clean = strings.ReplaceAll(clean, "\r", "") // it would overwrite what is in the line
	if _, err := io.WriteString(d.file, clean); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Behind returns the file behind a door: for a program of the person's own that takes over the terminal, such
// as an editor, and to ask the terminal for its size.
func Behind(w io.Writer) io.Writer {
	if d, ok := w.(*door); ok {
		return d.file
	}
	return w
}
