package foreign

import (
	"context"
	"database/sql"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

const crushDatabase = "crush.db"

// findCrush lists the databases of crush: it keeps one in each project, and a list of its projects.
func findCrush(p Places, _ func(string) bool) ([]string, error) {
	var out []string
	seen := map[string]bool{}
	add := func(folder string) {
		path := filepath.Join(folder, crushDatabase)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && !seen[path] {
			seen[path] = true
			out = append(out, path)
		}
	}
	for _, folder := range p.dataFolders() {
		for _, project := range crushProjects(filepath.Join(folder, "crush", "projects.json")) {
			add(project.Data)
		}
	}
	for _, dir := range p.Here {
		add(filepath.Join(dir, ".crush"))
	}
	return out, nil
}

type crushProject struct {
	Path string
	Data string `json:"data_dir"`
}

func crushProjects(file string) []crushProject {
	var list struct{ Projects []crushProject }
	if whole(file, &list) != nil {
		return nil // it keeps none
	}
	var out []crushProject
	for _, p := range list.Projects {
		if p.Data != "" && !filepath.IsAbs(p.Data) {
			p.Data = filepath.Join(p.Path, p.Data)
		}
		if filepath.IsAbs(p.Data) {
			out = append(out, p)
		}
	}
	return out
}

// crushSessions lists the sessions of a database, the last used one first; sub-agents and the search for a title have
// parents. The folder is that of the database.
const crushSessions = `SELECT id, '', title, '', 0 FROM sessions
	WHERE coalesce(parent_session_id, '') = '' ORDER BY updated_at DESC, id DESC`

// crushPart is a part of a message with its kind.
type crushPart struct {
	Type string
	Data struct {
		Text, Thinking, URL            string
		ID, Name, Input, Content, Data string
		Command, Output, Path          string
		MIMEType                       string // of a file
		CallID                         string `json:"tool_call_id"`
		Type                           string `json:"mime_type"` // of a result
		Failed                         bool   `json:"is_error"`
	}
}

// readCrushSession reads the messages of a session of the database. A summary that stands for them is left out: they are
// all there.
func (r *reading) readCrushSession(ctx context.Context, db *sql.DB) {
	if dir := filepath.Dir(r.path); filepath.Base(dir) == ".crush" {
		r.Folder = filepath.Dir(dir)
	}
	r.rows(ctx, db, `SELECT role, coalesce(model, ''), created_at, parts FROM messages
		WHERE session_id = ? AND coalesce(is_summary_message, 0) = 0 ORDER BY created_at, rowid`, func(row []string) error {
		role := map[string]string{"user": User, "assistant": Assistant, "tool": Assistant}[row[0]]
		if role == "" {
			return nil
		}
		if row[1] != "" {
			r.Model = row[1]
		}
		var parts []crushPart
		if err := json.Unmarshal([]byte(row[3]), &parts); err != nil {
			return err
		}
		for _, p := range parts {
			r.crushPart(p, role, crushTime(row[2]))
		}
		return nil
	})
}

func (r *reading) crushPart(p crushPart, role string, when time.Time) {
	d := p.Data
	switch p.Type {
	case "text":
		r.at(role, when).say(d.Text)
	case "reasoning":
		if d.Thinking != "" {
			m := r.at(role, when)
			m.Thinking = join(m.Thinking, d.Thinking)
		}
	case "image_url":
		r.at(role, when).dataURL(d.URL)
	case "binary":
		r.at(role, when).picture(d.MIMEType, d.Data)
	case "tool_call":
		raw, err := json.Marshal(d.Input)
		if err == nil {
			r.call(d.ID, d.Name, raw, when)
		}
	case "tool_result":
		var shown Message
		if d.Data != "" {
			shown.picture(d.Type, d.Data)
		}
		r.result(d.CallID, d.Content, d.Failed, shown.Pictures, when)
	case "shell_command":
		r.at(role, when).say("[ran: " + cut(d.Command, maxResult) + "]\n\n[result: " + cut(d.Output, maxResult) + "]")
	}
}

// crushTime reads a time, which is in seconds whatever the schema says of milliseconds.
func crushTime(text string) time.Time {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}
	}
	if n > 1e11 {
		return time.UnixMilli(n)
	}
	return time.Unix(n, 0)
}
