package lsp

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
	"unicode/utf8"

	"jcode/internal/edit"
	"jcode/internal/paths"
	"jcode/tools/lsp/protocol"
)

// maxDocument is the largest size of a file that is sent to a server, in bytes.
const maxDocument = 4 << 20

// readDocument reads a file in the form that a server gets.
func readDocument(path string) (content string, st stamp, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", st, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxDocument {
		return "", st, fmt.Errorf("%s is not text of at most %d MiB", path, maxDocument>>20)
	}
	data, err := paths.ReadFile(path, maxDocument)
	if err != nil {
		return "", st, err
	}
	content, _, err = edit.Decode(data)
	if err == nil && (!utf8.ValidString(content) || bytes.IndexByte([]byte(content), 0) >= 0) {
		err = fmt.Errorf("%s is not UTF-8 text", path)
	}
	return content, stamp{info.Size(), info.ModTime()}, err
}

// sync shows the server a file as it is on disk: it opens it, sends what changed, or closes a
// file that was removed. changed says that the server has something new to look at.
func (in *instance) sync(ctx context.Context, path string) (changed bool, err error) {
	in.syncing.Lock()
	defer in.syncing.Unlock()
	content, st, err := readDocument(path)
	return in.show(ctx, path, content, st, err)
}

// showFormer opens a file that the server does not have open with a text that it had before. The next sync sends what
// is there now.
func (in *instance) showFormer(ctx context.Context, path, content string) (opened bool, err error) {
	in.syncing.Lock()
	defer in.syncing.Unlock()
	in.mu.Lock()
	_, open := in.docs[path]
	in.mu.Unlock()
	if open {
		return false, nil
	}
	return in.show(ctx, path, content, stamp{}, nil)
}

// show sends a file's text, or that it can't be read. The caller holds syncing.
func (in *instance) show(ctx context.Context, path, content string, st stamp, err error) (changed bool, _ error) {
	in.mu.Lock()
	doc := in.docs[path]
	switch {
	case err != nil && doc == nil:
		in.mu.Unlock()
		return false, err
	case err != nil:
		delete(in.docs, path)
		delete(in.found.files, path)
		in.mu.Unlock()
		if isAbsent(err) {
			err = in.changedFiles(ctx, fileChange{path, changeDeleted})
		}
		return true, cmp.Or(err, in.conn.Notify(ctx, "textDocument/didClose", map[string]any{"textDocument": protocol.TextDocument{URI: protocol.URI(path)}}))
	case doc == nil:
		evicted := in.evict()
		now := time.Now()
		in.docs[path] = &document{version: 1, content: content, sent: now, touched: now, stamp: st}
		in.mu.Unlock()
		for _, old := range evicted {
			if err := in.conn.Notify(ctx, "textDocument/didClose", map[string]any{"textDocument": protocol.TextDocument{URI: protocol.URI(old)}}); err != nil {
				return false, err
			}
		}
		return true, in.conn.Notify(ctx, "textDocument/didOpen", map[string]any{"textDocument": map[string]any{
			"uri": protocol.URI(path), "languageId": languageID(path), "version": 1, "text": content,
		}})
	case doc.content == content:
		doc.touched, doc.stamp = time.Now(), st
		in.mu.Unlock()
		return false, nil
	}
	doc.version++
	doc.content, doc.sent, doc.touched, doc.stamp = content, time.Now(), time.Now(), st
	version := doc.version
	in.mu.Unlock()
	err = in.conn.Notify(ctx, "textDocument/didChange", map[string]any{
		"textDocument": protocol.VersionedDocument{URI: protocol.URI(path), Version: version}, "contentChanges": []any{map[string]any{"text": content}},
	})
	if err == nil {
		err = in.conn.Notify(ctx, "textDocument/didSave", map[string]any{"textDocument": protocol.TextDocument{URI: protocol.URI(path)}})
	}
	return true, err
}

// evict closes the least recently used documents if there are too many. The caller holds the
// lock.
func (in *instance) evict() (closed []string) {
	for len(in.docs) >= maxOpen {
		oldest := ""
		for path, d := range in.docs {
			if oldest == "" || d.touched.Before(in.docs[oldest].touched) {
				oldest = path
			}
		}
		delete(in.docs, oldest)
		closed = append(closed, oldest)
	}
	return closed
}

// refresh looks for changes of the open documents that somebody else made: a command, an editor,
// a formatter.
func (in *instance) refresh(ctx context.Context) error {
	for _, path := range in.openPaths() {
		info, err := os.Stat(path)
		in.mu.Lock()
		doc := in.docs[path]
		same := doc != nil && err == nil && doc.stamp == (stamp{info.Size(), info.ModTime()})
		in.mu.Unlock()
		if doc == nil || same {
			continue
		}
		if _, err := in.sync(ctx, path); err != nil && !isAbsent(err) {
			return err
		}
	}
	return nil
}

// The kinds of change of a watched file.
const (
	changeCreated = 1
	changeChanged = 2
	changeDeleted = 3
)

type fileChange struct {
	path string
	kind int
}

// changedFiles tells the server of files that it may not have open.
func (in *instance) changedFiles(ctx context.Context, changes ...fileChange) error {
	list := make([]any, len(changes))
	for i, c := range changes {
		list[i] = map[string]any{"uri": protocol.URI(c.path), "type": c.kind}
	}
	return in.conn.Notify(ctx, "workspace/didChangeWatchedFiles", map[string]any{"changes": list})
}

func isAbsent(err error) bool { return errors.Is(err, fs.ErrNotExist) }
