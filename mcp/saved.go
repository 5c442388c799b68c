package mcp

import (
	"fmt"
	"os"
	"sync"
	"time"

	"jcode/internal/tidy"
	"jcode/mcp/wire"
)

// newLog returns the log of a server.
func (m *Manager) newLog(name string) *wire.Log {
	l := wire.NewLog(m.opt.LogDir, name)
	l.Private = m.opt.Private
	return l
}

// fileSaver keeps results that don't fit into a text.
type fileSaver struct {
	dir     string
	private func() bool // nothing is to be saved now; nil: never
	mu      sync.Mutex
	n       int
}

// keepFiles is how long saved results are kept.
const keepFiles = 7 * 24 * time.Hour

// save writes data to a fresh file and returns its path.
func (f *fileSaver) save(mime string, data []byte) (string, error) {
	return f.write(mime, func(out *os.File) error { _, err := out.Write(data); return err })
}

// saveText is save for a text, which is not copied.
func (f *fileSaver) saveText(whole string) (string, error) {
	return f.write("text/plain", func(out *os.File) error { _, err := out.WriteString(whole); return err })
}

func (f *fileSaver) write(mime string, write func(*os.File) error) (string, error) {
	if f.dir == "" {
		return "", fmt.Errorf("no folder for results")
	}
	if f.private != nil && f.private() {
		return "", fmt.Errorf("nothing of a private conversation is kept on the disk")
	}
	f.mu.Lock()
	f.n++
	n := f.n
	f.mu.Unlock()
	if n == 1 {
		tidy.Folder(f.dir, tidy.Limits{Age: keepFiles})
	}
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return "", err
	}
	out, err := os.CreateTemp(f.dir, time.Now().Format("20060102-150405-")+"*"+extensionOf(mime))
	if err != nil {
		return "", err
	}
	err = write(out)
	if closeErr := out.Close(); err == nil {
		err = closeErr
	}
	return out.Name(), err
}

func extensionOf(mime string) string {
	switch mime {
	case "text/plain":
		return ".txt"
	case "image/png":
		return ".png"
	case "image/jpeg":
		return ".jpg"
	case "image/gif":
		return ".gif"
	case "image/webp":
		return ".webp"
	case "image/svg+xml":
		return ".svg"
	case "audio/wav", "audio/x-wav":
		return ".wav"
	case "audio/mpeg":
		return ".mp3"
	case "application/pdf":
		return ".pdf"
	case "application/json":
		return ".json"
	}
	return ".bin"
}
