package tasklist

import (
	"time"

	"jcode/tasks"
)

// JSON is the form of a task for other programs.
type JSON struct {
	ID       int64       `json:"id"`
	State    tasks.State `json:"state"`
	Why      string      `json:"why,omitempty"`
	Prompt   string      `json:"prompt"`
	Folder   string      `json:"folder,omitempty"`
	Repo     string      `json:"repo,omitempty"`
	Base     string      `json:"base"`
	Role     string      `json:"role,omitempty"`
	Model    string      `json:"model,omitempty"`
	Mode     string      `json:"mode"`
	Priority int         `json:"priority"`
	After    []int64     `json:"after,omitempty"`
	Key      string      `json:"key,omitempty"`
	Created  time.Time   `json:"created"`
	Changed  time.Time   `json:"changed"`
	Attempts int         `json:"attempts"`
	Session  string      `json:"session,omitempty"`
	Branch   string      `json:"branch,omitempty"`
	Commit   string      `json:"commit,omitempty"`
	Summary  string      `json:"summary,omitempty"`
	Steps    int         `json:"steps"`
	CostUSD  float64     `json:"cost_usd"`
	Taken    bool        `json:"taken"`
}

// AsJSON returns a task for other programs.
func AsJSON(v tasks.Task) JSON {
	return JSON{
		v.ID, v.State, Waits(v), v.Prompt, v.Folder, v.Repo, v.Base, v.Role, v.Model, v.Mode, v.Priority, v.After, v.Key, v.Created, v.Changed,
		v.Attempt, v.Session, v.Branch, v.Commit, v.Summary, v.Steps, v.Cost, !v.Taken.IsZero(),
	}
}
