package wire

import (
	"fmt"
	"math"
)

// Version is the protocol's version. A host that was started from a binary of another
// version is refused.
const Version = 1

// Type says what a message is.
type Type string

// Messages from jcode to a host.
const (
	TypeInit     Type = "init"     // Name environment, Value options: pwd, owner
	TypeCompile  Type = "compile"  // Name chunk, Text source
	TypeRun      Type = "run"      // Name chunk, Hash, Text source (once per host), Value parameters
	TypeLoad     Type = "load"     // Name chunk, Text source, Value modules: name → source
	TypeStart    Type = "start"    // run init() of a plugin or startup() of the startup script
	TypeRequest  Type = "request"  // Name operation, Text sender, Value payload
	TypeEvent    Type = "event"    // Name event, Value its table
	TypeCommand  Type = "command"  // Name command, Text what the person wrote
	TypeReply    Type = "reply"    // ID of the call, Value, or Kind and Text of an error that raises
	TypeCancel   Type = "cancel"   // ID of the work to stop
	TypeShutdown Type = "shutdown" // run shutdown() of a plugin
)

// Messages from a host to jcode.
const (
	TypeReady    Type = "ready"    // N protocol version, Value active layers
	TypeCall     Type = "call"     // ID, Name function, Value arguments
	TypeResult   Type = "result"   // ID of the work, Value
	TypeError    Type = "error"    // ID of the work, Kind, Text, N line
	TypeLog      Type = "log"      // Kind level, Text
	TypeProgress Type = "progress" // Text
)

// Message is one frame's content. Only the fields that its Type names are set.
type Message struct {
	Type  Type
	ID    int64
	Name  string
	Kind  string
	Text  string
	Hash  string
	N     int64
	Value any
	// Limits apply to one piece of work.
	Limits Limits
	// Spent is what the host used up so far; set on result and error.
	Spent Spent
}

// Limits bound one piece of work inside the host.
type Limits struct {
	// Instructions is the most VM instructions; 0 = none.
	Instructions int64
	// Heap is the most bytes that the heap may grow.
	Heap int64
}

// Spent is what a host has used.
type Spent struct {
	// CPU is the process's CPU time in milliseconds since its start.
	CPU int64
	// Memory is the process's resident memory, in bytes.
	Memory int64
	// Tainted says that the host must not serve another call.
	Tainted bool
}

// field is a field of a message: its name in the frame, and where its value is kept.
type field[T any] struct {
	key string
	at  *T
}

// texts returns the fields that hold text. An empty one is not sent.
func (m *Message) texts() [5]field[string] {
	return [...]field[string]{{"t", (*string)(&m.Type)}, {"name", &m.Name}, {"kind", &m.Kind}, {"hash", &m.Hash}, {"text", &m.Text}}
}

// numbers returns the fields that hold a whole number. Zero is not sent.
func (m *Message) numbers() [6]field[int64] {
	return [...]field[int64]{
		{"id", &m.ID},
		{"n", &m.N},
		{"li", &m.Limits.Instructions},
		{"lh", &m.Limits.Heap},
		{"cpu", &m.Spent.CPU},
		{"mem", &m.Spent.Memory},
	}
}

func (m *Message) object() *Object {
	o := &Object{}
	for _, f := range m.texts() {
		if *f.at != "" {
			o.Set(f.key, *f.at)
		}
	}
	for _, f := range m.numbers() {
		if *f.at != 0 {
			o.Set(f.key, float64(*f.at))
		}
	}
	if m.Spent.Tainted {
		o.Set("bad", true)
	}
	if m.Value != nil {
		o.Set("v", m.Value)
	}
	return o
}

// message checks types and ranges of a decoded frame.
func message(v any) (*Message, error) {
	o, ok := v.(*Object)
	if !ok {
		return nil, fmt.Errorf("not an object")
	}
	m := &Message{}
	for i := range o.Len() {
		key, v := o.At(i)
		if err := m.set(key, v); err != nil {
			return nil, err
		}
	}
	if m.Type == "" {
		return nil, fmt.Errorf("no type")
	}
	return m, nil
}

func (m *Message) set(key string, v any) error {
	for _, f := range m.texts() {
		if f.key == key {
			return assign(f, v, "text")
		}
	}
	for _, f := range m.numbers() {
		if f.key == key {
			n, ok := v.(float64)
			if !ok || n != math.Trunc(n) || n < 0 || n > MaxExact {
				return fmt.Errorf("%s is not a whole number", key)
			}
			*f.at = int64(n)
			return nil
		}
	}
	switch key {
	case "bad":
		return assign(field[bool]{key, &m.Spent.Tainted}, v, "a boolean")
	case "v":
		m.Value = v
		return nil
	}
	return fmt.Errorf("unknown field %q", key)
}

// assign stores a value that must have the type of the field.
func assign[T any](f field[T], v any, kind string) error {
	value, ok := v.(T)
	if !ok {
		return fmt.Errorf("%s is not %s", f.key, kind)
	}
	*f.at = value
	return nil
}
