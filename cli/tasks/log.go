package taskscli

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"jcode/cli/console"
	"jcode/session"
	"jcode/session/export"
	"jcode/tasks"
)

type logCmd struct {
	ID   taskID `arg:"" name:"number" help:"The task's number."`
	JSON bool   `name:"json" help:"Print JSON, which jcode sessions import reads."`
}

// Run prints the transcript of a task's session.
func (c *logCmd) Run(ctx context.Context, std Setup) error {
	return withTasks(ctx, std, func(store *tasks.Store) error {
		t, err := store.Get(ctx, int64(c.ID))
		if err == nil && t.Session == "" {
			err = console.Usage("task %d has no session yet: it is %s", t.ID, t.State)
		}
		if err != nil {
			return err
		}
		here, err := std.Show(ctx, std.Streams, t.Session, c.JSON)
		if here {
			return err
		}
		r, fault := store.Results().Of(ctx, t.ID) // another machine has it
		if fault != nil {
			return fault
		}
		if printed, fault := printLog(std.Streams, r, c.JSON); printed || fault != nil {
			return fault
		}
		return err
	})
}

// loggedSession is a session as the queue keeps it for those who don't have it.
type loggedSession struct {
	Markdown string `json:"markdown"`
	JSON     string `json:"json"`
}

// PackLog returns a session in the form in which the queue keeps it, nil if it is too large.
func PackLog(ctx context.Context, from *session.Store, id string) ([]byte, error) {
	doc, err := export.Load(ctx, from, id)
	if errors.Is(err, session.ErrNotFound) {
		return nil, nil // nothing was said
	}
	if err != nil {
		return nil, err
	}
	var l loggedSession
	if l.JSON, err = export.Render(export.JSON, doc); err == nil {
		l.Markdown, err = export.Render(export.Markdown, doc)
	}
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if err := errors.Join(json.NewEncoder(z).Encode(l), z.Close()); err != nil {
		return nil, err
	}
	if out.Len() > tasks.MaxLog {
		return nil, nil
	}
	return out.Bytes(), nil
}

// mostUnpacked bounds a session of the queue, in bytes.
const mostUnpacked = 512 << 20

func unpackLog(packed []byte) (l loggedSession, err error) {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err == nil {
		err = json.NewDecoder(io.LimitReader(z, mostUnpacked)).Decode(&l)
	}
	return l, err
}

// printLog prints the session of a task that only the queue has. It reports false if the queue has none.
func printLog(std console.Streams, r tasks.Result, asJSON bool) (bool, error) {
	if len(r.Log) == 0 {
		return false, nil
	}
	l, err := unpackLog(r.Log)
	if err != nil {
		return true, console.Usage("the session in the queue is damaged: %w", err)
	}
	page := l.Markdown
	if asJSON {
		page = l.JSON
	}
	_, err = io.WriteString(std.Out, strings.TrimRight(page, "\n")+"\n")
	return true, err
}
