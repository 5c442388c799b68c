package command

import (
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Side is where a verb can be typed.
type Side uint8

// Most verbs are on both sides.
const (
	Both Side = iota
	Chat      // `/room verb` alone
	Line      // `jcode room verb` alone
)

// Entry names a verb of a room once, for `/room verb` of the chat and `jcode room verb` of the command line.
type Entry struct {
	// Name, Hint, Help, Ask and Shows are those of [Verb].
	Name, Hint, Help, Ask string
	Shows                 bool
	// Names says that what follows names a thing of the room: both sides propose those.
	Names bool
	On    Side
	// Line is what the command line says in another way.
	Line Said
}

// Said is a hint and a help that a side has of its own, with the reason. What is empty is as in the entry.
type Said struct{ Hint, Help, Why string }

// Table names the verbs of a room.
type Table []Entry

// Find returns the entry of a name, or nil.
func (t Table) Find(name string) *Entry {
	if i := slices.IndexFunc(t, func(e Entry) bool { return e.Name == name }); i >= 0 {
		return &t[i]
	}
	return nil
}

// OnLine says of a verb what `jcode room --help` says, and whether what follows it names a thing of the room.
func (t Table) OnLine(name string) (help string, names bool) {
	e := t.Find(name)
	if e == nil || e.On == Chat {
		return "", false
	}
	help = e.Help
	if e.Line.Help != "" {
		help = e.Line.Help
	}
	return sentence(help), e.Names
}

// sentence begins a help of the chat with a capital and ends it with a full stop.
func sentence(help string) string {
	r, size := utf8.DecodeRuneInString(help)
	help = string(unicode.ToUpper(r)) + help[size:]
	if !strings.HasSuffix(help, "…") {
		help += "."
	}
	return help
}

// Deeds say of verbs by name what they do in the chat: Run or Edit, and Complete where it is not what the room names.
type Deeds map[string]Verb

// Verbs returns the verbs of the chat, with what they do. names proposes the things of the room; it may be nil. A deed
// without an entry for the chat is left out; a test of cli finds it.
func (t Table) Verbs(names func(ctx context.Context, typed string) []string, deeds Deeds) Verbs {
	list := make(Verbs, 0, len(t))
	for i := range t {
		e := &t[i]
		if e.On == Line {
			continue
		}
		v := Verb{Name: e.Name, Hint: e.Hint, Help: e.Help, Ask: e.Ask, Shows: e.Shows}
		does := deeds[e.Name]
		v.Run, v.Edit, v.Complete = does.Run, does.Edit, does.Complete
		if v.Complete == nil && e.Names {
			v.Complete = names
		}
		list = append(list, v)
	}
	return list
}
