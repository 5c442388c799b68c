package remote

import (
	"encoding/json"

	"jcode/agent/event/wire"
)

// Version is the version of the protocol. A server answers a client of another version with what it has, so that both
// can say which of them is too old.
const Version = 1

// Role is what a client may do with a session.
type Role string

// The roles. Whoever watches sees questions, and answers none.
const (
	Watch   Role = "watch"
	Control Role = "control"
)

// Where is a kind of place that shows a session.
type Where string

// The kinds of windows in which a session begins.
const (
	InTerminal Where = "terminal"
	InEditor   Where = "editor"
	InRun      Where = "run"
)

// The parameters and results of the methods.
type (
	// Hello (hello) comes first.
	Hello struct {
		Version int    `json:"version"`
		Token   string `json:"token"`
		Name    string `json:"name"` // what others read: "phone", "ssh"
	}
	// Welcome answers it.
	Welcome struct {
		Version int    `json:"version"`
		Jcode   string `json:"jcode"`
		Pid     int    `json:"pid"`
		// Background says that the process runs in no terminal, but can be shown in any.
		Background *Background `json:"background,omitempty"`
	}
	// Background is a process that can be shown: where it began, and how many windows show it.
	Background struct {
		Folder  string `json:"folder"`
		Windows int    `json:"windows"`
	}
	// Listed is a session in the answer to sessions.
	Listed struct {
		wire.State
		// Asks counts the questions that wait for an answer.
		Asks int  `json:"asks"`
		Role Role `json:"may"`
		// Where is where the session is shown without others: a terminal, an editor, or nowhere, in a single run.
		Where Where `json:"where,omitempty"`
	}
	// Attach (attach) follows a session's events. After is the number of the last one that the client has.
	Attach struct {
		Session string  `json:"session"`
		Role    Role    `json:"role"`
		After   *uint64 `json:"after,omitempty"`
		// Recent is how many messages of the history are wanted, the last ones; 0 is all.
		Recent int `json:"recent,omitempty"`
	}
	// Attached answers it. Resumed says that the events after After follow without a gap. Otherwise History holds what
	// is stored and Now what is going on, both as lines of events; messages are told apart by seq, calls by id, and what
	// is in both is the same. The events after Last follow.
	Attached struct {
		Session string            `json:"session"`
		Role    Role              `json:"role"`
		Resumed bool              `json:"resumed"`
		Last    uint64            `json:"last"`
		State   *wire.State       `json:"state"`
		History []json.RawMessage `json:"history,omitempty"`
		Now     []json.RawMessage `json:"now,omitempty"`
		// Before is set where the history has earlier messages: the number of the first one that is here.
		Before int64 `json:"before,omitempty"`
	}
	// Earlier (history) asks for the messages before one. Past answers it.
	Earlier struct {
		Session string `json:"session"`
		Before  int64  `json:"before"`
	}
	// Past are stored messages, as lines of events.
	Past struct {
		History []json.RawMessage `json:"history"`
	}
	// Of (detach, interrupt) names a session.
	Of struct {
		Session string `json:"session"`
	}
	// Prompt (prompt) queues a prompt; Queued answers it.
	Prompt struct {
		Session  string    `json:"session"`
		Text     string    `json:"text"`
		Pictures []Picture `json:"pictures,omitempty"`
	}
	// Queued names a prompt in the queue; unqueue takes it out again, all of them without an ID.
	Queued struct {
		Session string `json:"session"`
		ID      string `json:"id"`
	}
	// Answer (answer) settles a question of the gate by the place of an option.
	Answer struct {
		Session string `json:"session"`
		ID      string `json:"id"`
		Option  int    `json:"option"`
		Word    string `json:"word,omitempty"` // goes to the model with a no
		// Hunks are the places of those hunks of the question that may be written, with a yes that holds once. Without
		// it, all of them.
		Hunks []int `json:"hunks,omitempty"`
	}
	// Reply (reply) settles a question of the model.
	Reply struct {
		Session string `json:"session"`
		ID      string `json:"id"`
		Text    string `json:"text"`
	}
	// Fill (fill) settles a form.
	Fill struct {
		Session string         `json:"session"`
		ID      string         `json:"id"`
		Action  string         `json:"action"` // accept, decline, cancel
		Values  map[string]any `json:"values,omitempty"`
	}
	// Set (set) changes the mode, at most to the owner's, or the model.
	Set struct {
		Session string `json:"session"`
		Mode    string `json:"mode,omitempty"`
		Model   string `json:"model,omitempty"`
	}
	// Event is a notification: one line of a session.
	Event struct {
		Session string          `json:"session"`
		Event   json.RawMessage `json:"event"`
	}
	// Ended is a notification that nothing more follows of a session: closed, since its owner closed it; reload, since
	// the client was too slow, and attaches again.
	Ended struct {
		Session string `json:"session"`
		Why     string `json:"why"`
	}
)

// The notifications, and why a session ended for a client.
const (
	NoteEvent = "event"
	NoteEnded = "ended"

	WhyClosed = "closed"
	WhyReload = "reload"
)

// Methods are all methods with what each takes and answers, nil for nothing.
func Methods() map[string][2]any {
	return map[string][2]any{
		"hello": {Hello{}, Welcome{}}, "sessions": {nil, []Listed{}}, "beside": {nil, []Listed{}}, "attach": {Attach{}, Attached{}}, "history": {Earlier{}, Past{}}, "detach": {Of{}, nil}, "interrupt": {Of{}, nil},
		"prompt": {Prompt{}, Queued{}}, "unqueue": {Queued{}, nil}, "answer": {Answer{}, nil}, "reply": {Reply{}, nil}, "fill": {Fill{}, nil}, "set": {Set{}, nil},
		"undo": {Undo{}, Said{}}, "rewind": {Rewind{}, Rewound{}}, "role": {RoleOf{}, nil}, "choices": {Of{}, Choices{}}, "files": {FilesOf{}, Names{}},
		"agents.output": {AgentOf{}, AgentOutput{}}, "agents.message": {AgentOf{}, nil}, "agents.stop": {AgentOf{}, nil},
		"show": {Show{}, nil}, "type": {Type{}, nil}, "size": {Size{}, nil}, "hide": {nil, nil}, "end": {nil, nil},
	}
}
