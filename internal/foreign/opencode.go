package foreign

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// readOpencode reads a session of opencode: its file, the files of its messages in message/SESSION beside the folder of
// sessions, and those of their parts in part/MESSAGE.
func readOpencode(r *reading) {
	var s struct{ ID, Title, Directory, ParentID string }
	if err := whole(r.path, &s); err != nil {
		r.fault(0, "%v", err)
		return
	}
	if s.ParentID != "" || !plainName(s.ID) {
		return
	}
	r.ID, r.Title, r.Folder = s.ID, s.Title, s.Directory
	root := filepath.Dir(filepath.Dir(filepath.Dir(r.path)))
	type message struct {
		ID, Role, ModelID string
		Time              struct{ Created int64 }
	}
	var all []message
	for _, file := range r.below(filepath.Join(root, "message", s.ID)) {
		var m message
		if err := whole(file, &m); err != nil {
			r.faults = append(r.faults, Fault{File: file, Text: err.Error()})
			continue
		}
		all = append(all, m)
	}
	slices.SortStableFunc(all, func(a, b message) int { return int(a.Time.Created - b.Time.Created) })
	for _, m := range all {
		if m.Role != User && m.Role != Assistant || !plainName(m.ID) {
			continue
		}
		if m.ModelID != "" {
			r.Model = m.ModelID
		}
		msg := r.at(m.Role, time.UnixMilli(m.Time.Created))
		for _, file := range r.below(filepath.Join(root, "part", m.ID)) {
			r.opencodePart(msg, file)
		}
	}
}

func (r *reading) opencodePart(msg *Message, file string) {
	var p struct {
		Type, Text, Tool, URL string
		Synthetic             bool
		State                 struct {
			Input         json.RawMessage
			Output, Error string
		}
	}
	if err := whole(file, &p); err != nil {
		r.faults = append(r.faults, Fault{File: file, Text: err.Error()})
		return
	}
	switch p.Type {
	case "text":
		if !p.Synthetic {
			msg.say(p.Text)
		}
	case "reasoning":
		msg.Thinking = join(msg.Thinking, p.Text)
	case "tool":
		msg.call(p.Tool, p.State.Input)
		msg.result(p.State.Output + p.State.Error)
	case "file":
		msg.dataURL(p.URL)
	}
}

// below lists the JSON files of a folder, by name.
func (r *reading) below(dir string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // a session without messages
	}
	var out []string
	for _, e := range entries {
		if e.Type().IsRegular() && strings.HasSuffix(e.Name(), ".json") {
			out = append(out, filepath.Join(dir, e.Name()))
		}
	}
	return out
}

// plainName reports whether an ID names a file in a folder, and nothing outside it.
func plainName(id string) bool { return id != "" && filepath.IsLocal(id) && filepath.Base(id) == id }
