package wire

import (
	"encoding/json"
	"time"

	"jcode/agent/event"
	"jcode/agent/model"
	"jcode/agent/roster"
	"jcode/tools"
)

// Version is the version of the form. It grows when a field or type changes its meaning or goes; new ones may come at
// any time, so readers ignore what they do not know.
const Version = 1

// Head begins every line.
type Head struct {
	Type string `json:"type"`
	// N is the event's number in its session, To the last number of merged pieces. Streams of a headless run have
	// none.
	N  uint64 `json:"n,omitempty"`
	To uint64 `json:"to,omitempty"`
}

// Marks end every line of a sub-agent.
type Marks struct {
	// Agent is the sub-agent that the event is of, AgentSession its session, Parent the call that started it.
	Agent        string `json:"agent,omitempty"`
	AgentSession string `json:"agent_session,omitempty"`
	Parent       string `json:"parent,omitempty"`
	Worktree     string `json:"worktree,omitempty"`
}

func (h *Head) head() *Head    { return h }
func (m *Marks) marks() *Marks { return m }

// Line is an event in its JSON form.
type Line interface {
	head() *Head
	marks() *Marks
}

// The lines, in the order of event.go.
type (
	// TurnStart (turn_start) says that a prompt was committed and is being worked on.
	TurnStart struct {
		Head
		Turn   int       `json:"turn"`
		Seq    int64     `json:"seq"`
		Prompt string    `json:"prompt"`
		Queued string    `json:"queued,omitempty"`
		At     time.Time `json:"at"`
		Marks
	}
	// StepStart (step_start) says that a model request has been sent.
	StepStart struct {
		Head
		Step int `json:"step"`
		Marks
	}
	// Delta (text, reasoning) is a piece of the answer or of the model's thinking.
	Delta struct {
		Head
		Delta string `json:"delta"`
		Marks
	}
	// AnswerReset (answer_reset) says that what was streamed of the answer is void.
	AnswerReset struct {
		Head
		Reason string `json:"reason"`
		Marks
	}
	// CallWriting (tool_writing) says that the model is writing a call's arguments.
	CallWriting struct {
		Head
		Index int    `json:"index"`
		Name  string `json:"name"`
		Bytes int    `json:"bytes"`
		Marks
	}
	// Assistant (assistant) is a committed answer; it ends the deltas of a step.
	Assistant struct {
		Head
		Seq       int64  `json:"seq"`
		Text      string `json:"text"`
		Reasoning string `json:"reasoning,omitempty"`
		Calls     int    `json:"calls"`
		Marks
	}
	// Call (tool_call) is a committed call. It is repeated with ChangedBy and From where a hook or a person changed
	// what the model wrote.
	Call struct {
		Head
		ID        string          `json:"id"`
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
		ChangedBy string          `json:"changed_by,omitempty"`
		From      json.RawMessage `json:"from,omitempty"`
		At        *time.Time      `json:"at,omitempty"`
		Marks
	}
	// CallProgress (tool_progress) is what a running call does.
	CallProgress struct {
		Head
		ID     string `json:"id"`
		State  string `json:"state,omitempty"`
		Output string `json:"output,omitempty"`
		Marks
	}
	// CallResult (tool_result) is a committed result.
	CallResult struct {
		Head
		ID         string          `json:"id"`
		Name       string          `json:"name"`
		OK         bool            `json:"ok"`
		Content    string          `json:"content"`
		DurationMS int64           `json:"duration_ms"`
		Status     string          `json:"status,omitempty"` // done, failed, denied, interrupted
		Failure    tools.ErrorKind `json:"failure,omitempty"`
		Data       any             `json:"data,omitempty"`
		Parts      []tools.Part    `json:"parts,omitempty"`
		Display    *tools.Display  `json:"display,omitempty"`
		Marks
	}
	// ApprovalAsked (approval_asked) is a question of the gate that waits.
	ApprovalAsked struct {
		Head
		ID       string   `json:"id"`
		Question Question `json:"question"`
		Marks
	}
	// Closed (approval_closed, ask_closed) says that a question needs no answer any more, and who gave it; "" is the
	// terminal, or the end of the call.
	Closed struct {
		Head
		ID string `json:"id"`
		By string `json:"by,omitempty"`
		Marks
	}
	// Approval (approval) is what the gate decided on a call.
	Approval struct {
		Head
		ID       string          `json:"id"`
		Decision string          `json:"decision"` // allow, deny
		By       tools.DecidedBy `json:"by"`
		Rule     string          `json:"rule"`
		Name     string          `json:"name,omitempty"`
		Marks
	}
	// Ask (ask) is a question of the model that waits for a reply.
	Ask struct {
		Head
		ID      string   `json:"id"`
		Label   string   `json:"label,omitempty"`
		Text    string   `json:"text"`
		Options []string `json:"options"`
		Marks
	}
	// AskForm (form) is a form that waits to be filled in.
	AskForm struct {
		Head
		ID   string `json:"id"`
		Form Form   `json:"form"`
		Marks
	}
	// Todo (todo) is the plan.
	Todo struct {
		Head
		Items []tools.TodoItem `json:"items"`
		Marks
	}
	// ToolsChanged (tools_changed) says which tools came and went.
	ToolsChanged struct {
		Head
		Added   []string `json:"added"`
		Removed []string `json:"removed"`
		Owner   string   `json:"owner"`
		Marks
	}
	// Notice (notice) is a line for the user.
	Notice struct {
		Head
		Level   event.Level `json:"level"` // info, warn, error
		Message string      `json:"message"`
		Marks
	}
	// Retrying (retrying) says that a request is sent again after a wait.
	Retrying struct {
		Head
		Attempt int    `json:"attempt"`
		WaitMS  int64  `json:"wait_ms"`
		Reason  string `json:"reason"`
		Marks
	}
	// Compacting (compacting) says that the history is being summarised.
	Compacting struct {
		Head
		Marks
	}
	// Compaction (compaction) reports its effect.
	Compaction struct {
		Head
		BeforeTokens int `json:"before_tokens"`
		AfterTokens  int `json:"after_tokens"`
		Marks
	}
	// Rewound (rewound) says that the messages from a sequence number on are gone.
	Rewound struct {
		Head
		From int64 `json:"from"`
		Marks
	}
	// Usage (usage) is what a step used, and the session in all. CostUSD is null where a price is unknown.
	Usage struct {
		Head
		model.Usage
		Total   *model.Usage `json:"total,omitempty"`
		Context int          `json:"context_tokens,omitempty"`
		Window  int          `json:"context_window,omitempty"`
		CostUSD *float64     `json:"cost_usd"`
		Beside  bool         `json:"beside,omitempty"` // a request beside the conversation used it, such as the one for the title: total and cost_usd have grown by it
		Marks
	}
	// Queue (queue) lists the prompts that wait while a turn runs.
	Queue struct {
		Head
		Prompts []Queued `json:"prompts"`
		Marks
	}
	// Preparing (preparing) says what a prompt waits for before it is committed.
	Preparing struct {
		Head
		Prompt string `json:"prompt"`
		Queued string `json:"queued,omitempty"`
		Doing  string `json:"doing"`
		Marks
	}
	// Unsent (unsent) says that a prompt was not committed.
	Unsent struct {
		Head
		Prompt string `json:"prompt"`
		Queued string `json:"queued,omitempty"`
		Error  string `json:"error"`
		Marks
	}
	// State (state) is what the status line shows.
	State struct {
		Head
		SessionID string     `json:"session_id"`
		Title     string     `json:"title"`
		Model     string     `json:"model"`
		Role      string     `json:"role"`
		Effort    string     `json:"effort,omitempty"` // how much the model thinks, unless as it does by itself
		Mode      tools.Mode `json:"mode"`
		MaxMode   tools.Mode `json:"max_mode,omitempty"` // the highest that may be set
		Busy      bool       `json:"busy"`
		Cwd       string     `json:"cwd"`
		Private   bool       `json:"private,omitempty"`
		ReadOnly  bool       `json:"read_only,omitempty"`
		Planning  bool       `json:"planning,omitempty"`
		Marks
	}
	// TurnEnd (turn_end) closes a turn.
	TurnEnd struct {
		Head
		Turn       int              `json:"turn"`
		Steps      int              `json:"steps"`
		DurationMS int64            `json:"duration_ms"`
		Reason     event.StopReason `json:"reason"` // done, interrupted, error, limit
		Queued     string           `json:"queued,omitempty"`
		Finish     string           `json:"finish,omitempty"`
		Calls      int              `json:"calls"`
		Error      string           `json:"error,omitempty"`
		Text       string           `json:"text"`
		Marks
	}
	// NotesUsed (notes_used) names the notes from earlier sessions that a turn used.
	NotesUsed struct {
		Head
		Notes []event.Note `json:"notes"`
		Marks
	}
	// AgentState (agent) is the state of a background agent.
	AgentState struct {
		Head
		Name      string        `json:"name"`
		Session   string        `json:"session_id"`
		Of        string        `json:"of,omitempty"` // the session that it works for
		Role      string        `json:"role,omitempty"`
		Model     string        `json:"model,omitempty"`
		Status    roster.Status `json:"status"` // working, waiting, done, failed, stopped, left
		Call      string        `json:"call,omitempty"`
		Doing     string        `json:"doing,omitempty"`
		Tokens    int           `json:"tokens"`
		CostUSD   float64       `json:"cost_usd"`
		Estimated bool          `json:"estimated,omitempty"`
		Started   *time.Time    `json:"started,omitempty"`
		Ended     *time.Time    `json:"ended,omitempty"`
		Answer    string        `json:"answer,omitempty"` // the last one, or why it failed
		Dir       string        `json:"dir,omitempty"`
		Changed   bool          `json:"changed,omitempty"` // its worktree has changes that were not merged
		Files     int           `json:"files,omitempty"`   // how many files a merge would change
		Added     int           `json:"added,omitempty"`   // lines in them
		Removed   int           `json:"removed,omitempty"`
		Marks
	}
)

// Queued is a prompt that waits.
type Queued struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// Question is a question of the gate.
type Question struct {
	CallID    string          `json:"call_id"`
	Tool      string          `json:"tool"`
	Label     string          `json:"label,omitempty"`
	Title     string          `json:"title"`
	Command   string          `json:"command,omitempty"`
	Diff      string          `json:"diff,omitempty"`
	Details   []string        `json:"details,omitempty"`
	Options   []Option        `json:"options"`
	Hunks     []Hunk          `json:"hunks,omitempty"` // that can be taken one by one: at least two
	Editable  string          `json:"editable,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
}

// Hunk is a part of a question's diff. Its place in the list is its number.
type Hunk struct {
	File    string `json:"file"`
	Line    int    `json:"line"` // the first that differs
	Added   int    `json:"added"`
	Removed int    `json:"removed"`
	Diff    string `json:"diff"` // its part of the diff, without the names of the file
}

// Option is one possible answer. Its place in the list is how it is chosen.
type Option struct {
	Scope tools.AnswerScope `json:"scope"` // no, once, session, project
	Label string            `json:"label"`
	Rules []string          `json:"rules,omitempty"` // what a lasting answer allows
	Words string            `json:"words,omitempty"` // the same in words
}

// Form is a question with fields.
type Form struct {
	From   string  `json:"from"`
	Person bool    `json:"person,omitempty"` // it belongs to something the user does; only the terminal fills it in
	Text   string  `json:"text"`
	Yes    string  `json:"yes,omitempty"`
	No     string  `json:"no,omitempty"`
	Fields []Field `json:"fields"`
}

// Field is one field of a form.
type Field struct {
	Name        string          `json:"name"`
	Title       string          `json:"title,omitempty"`
	Description string          `json:"description,omitempty"`
	Kind        tools.FieldKind `json:"kind"`
	Required    bool            `json:"required,omitempty"`
	Secret      bool            `json:"secret,omitempty"`
	Options     []string        `json:"options,omitempty"`
	Labels      []string        `json:"labels,omitempty"`
	Default     any             `json:"default,omitempty"`
	Format      string          `json:"format,omitempty"`
	Pattern     string          `json:"pattern,omitempty"`
	Min         *float64        `json:"min,omitempty"`
	Max         *float64        `json:"max,omitempty"`
}
