package export

import (
	"bytes"
	"encoding/json"
	"time"

	"jcode/internal/text"
	"jcode/session"
)

// jsonVersion names the shape below. Fields may be added to it.
const jsonVersion = 1

type jsonDocument struct {
	Version  int           `json:"version,omitempty"`
	Session  jsonSession   `json:"session"`
	Messages []jsonMessage `json:"messages"`
	Tasks    []any         `json:"tasks,omitempty"`
}

type jsonSession struct {
	ID           string    `json:"id"`
	Title        string    `json:"title"`
	ParentID     string    `json:"parent_id,omitempty"`
	ForkSeq      int64     `json:"fork_seq,omitempty"`
	Kind         string    `json:"kind,omitempty"`
	Cwd          string    `json:"cwd"`
	Model        string    `json:"model"`
	Role         string    `json:"role,omitempty"`
	Mode         string    `json:"mode"`
	Created      time.Time `json:"created"`
	Updated      time.Time `json:"updated"`
	Messages     int       `json:"messages"`
	InputTokens  int64     `json:"input_tokens"`
	OutputTokens int64     `json:"output_tokens"`
	CachedTokens int64     `json:"cached_tokens"`
	Written      int64     `json:"cache_write_tokens,omitempty"`
	Estimated    bool      `json:"estimated,omitempty"`
	Cost         float64   `json:"cost"`
}

type jsonMessage struct {
	Seq      int64          `json:"seq"`
	Role     string         `json:"role,omitempty"`
	Created  *time.Time     `json:"created,omitempty"`
	Parts    []session.Part `json:"parts,omitempty"`
	Calls    []jsonCall     `json:"tool_calls,omitempty"`
	Usage    *session.Usage `json:"usage,omitempty"`
	Archived int64          `json:"archived_by,omitempty"`
	Broken   string         `json:"broken,omitempty"`
}

type jsonCall struct {
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	// ChangedBy says who changed the arguments From which the model wrote.
	ChangedBy string          `json:"changed_by,omitempty"`
	From      json.RawMessage `json:"from,omitempty"`
	// RawArguments is set instead where the model wrote no JSON.
	RawArguments string          `json:"raw_arguments,omitempty"`
	Status       session.Status  `json:"status"`
	Result       string          `json:"result"`
	Data         json.RawMessage `json:"data,omitempty"`
	Parts        []session.Part  `json:"parts,omitempty"`
	Started      *time.Time      `json:"started,omitempty"`
	Ended        *time.Time      `json:"ended,omitempty"`
}

// SessionJSON returns a session's row in the shape that exports and listings use.
func SessionJSON(v session.Session) any { return sessionJSON(v) }

func sessionJSON(v session.Session) jsonSession {
	return jsonSession{
		ID: v.ID, Title: v.Title, ParentID: v.ParentID, ForkSeq: v.ForkSeq, Kind: v.Kind, Cwd: v.Cwd, Model: v.Model,
		Role: v.RoleName, Mode: v.Mode, Created: v.Created.UTC(), Updated: v.Updated.UTC(), Messages: v.Messages,
		InputTokens: v.InputTokens, OutputTokens: v.OutputTokens, CachedTokens: v.CachedTokens, Written: v.WrittenTokens, Estimated: v.Estimated, Cost: v.Cost,
	}
}

func documentJSON(d Document) jsonDocument {
	out := jsonDocument{Session: sessionJSON(d.Session), Messages: []jsonMessage{}}
	for _, m := range d.Messages {
		j := jsonMessage{Seq: m.Seq, Role: m.Role, Created: moment(m.Created), Parts: m.Parts, Usage: m.Usage, Archived: m.Archived, Broken: m.Broken}
		for _, c := range m.Calls {
			j.Calls = append(j.Calls, callJSON(c))
		}
		out.Messages = append(out.Messages, j)
	}
	for _, t := range d.Tasks {
		out.Tasks = append(out.Tasks, documentJSON(t))
	}
	return out
}

func callJSON(c session.Call) jsonCall {
	j := jsonCall{
		ID: c.ID, Name: c.Name, Status: c.Status, Result: text.Valid(c.Result), Data: c.Data, Parts: c.Parts,
		Started: moment(c.Started), Ended: moment(c.Ended),
	}
	d, ran := displayOf(c)
	if json.Valid([]byte(ran)) {
		j.Arguments = json.RawMessage(ran)
		if d.ChangedBy != "" && json.Valid([]byte(c.Arguments)) {
			j.ChangedBy, j.From = d.ChangedBy, json.RawMessage(c.Arguments)
		}
	} else {
		j.RawArguments = text.Valid(c.Arguments)
	}
	return j
}

func moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

func jsonPage(d Document) (string, error) {
	doc := documentJSON(d)
	doc.Version = jsonVersion
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(doc); err != nil {
		return "", err
	}
	return text.Valid(b.String()), nil
}
