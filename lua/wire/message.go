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
	TypeRequest  Type = "request"  // Name operation, Text sender, Value payload, Kind "handler" for a registered one
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
	ID    uint64
	Name  string
	Kind  string
	Text  string
	Hash  string
	N     int
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

func (m *Message) object() *Object {
	o := NewObject("t", string(m.Type))
	for _, f := range []struct {
		key string
		n   float64
	}{
		{"id", float64(m.ID)},
		{"n", float64(m.N)},
		{"li", float64(m.Limits.Instructions)},
		{"lh", float64(m.Limits.Heap)},
		{"cpu", float64(m.Spent.CPU)},
		{"mem", float64(m.Spent.Memory)},
	} {
		if f.n != 0 {
			o.Set(f.key, f.n)
		}
	}
	for _, f := range [...][2]string{{"name", m.Name}, {"kind", m.Kind}, {"hash", m.Hash}, {"text", m.Text}} {
		if f[1] != "" {
			o.Set(f[0], f[1])
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
		if err := m.field(key, v); err != nil {
			return nil, err
		}
	}
	if m.Type == "" {
		return nil, fmt.Errorf("no type")
	}
	return m, nil
}

func (m *Message) field(key string, v any) error {
	var text *string
	var number *int64
	var id, n int64
	switch key {
	case "t":
		text = (*string)(&m.Type)
	case "name":
		text = &m.Name
	case "kind":
		text = &m.Kind
	case "hash":
		text = &m.Hash
	case "text":
		text = &m.Text
	case "id":
		number = &id
	case "n":
		number = &n
	case "li":
		number = &m.Limits.Instructions
	case "lh":
		number = &m.Limits.Heap
	case "cpu":
		number = &m.Spent.CPU
	case "mem":
		number = &m.Spent.Memory
	case "bad":
		b, ok := v.(bool)
		if !ok {
			return fmt.Errorf("%s is not a boolean", key)
		}
		m.Spent.Tainted = b
	case "v":
		m.Value = v
	default:
		return fmt.Errorf("unknown field %q", key)
	}
	if text != nil {
		s, ok := v.(string)
		if !ok {
			return fmt.Errorf("%s is not text", key)
		}
		*text = s
	}
	if number != nil {
		f, ok := v.(float64)
		if !ok || f != math.Trunc(f) || f < 0 || f > MaxExact {
			return fmt.Errorf("%s is not a whole number", key)
		}
		*number = int64(f)
	}
	m.ID += uint64(id)
	m.N += int(n)
	return nil
}
