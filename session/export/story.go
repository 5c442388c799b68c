package export

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"jcode/internal/text"
	"jcode/session"
)

// Both text forms show a session as a list of items; Markdown and HTML differ only in how
// they draw them.

// item is one message to be drawn.
type item struct {
	who       string // heading
	kind      string // session role, or "broken"
	at        time.Time
	archived  bool
	reasoning string
	text      string
	images    []session.Part
	calls     []call
}

// call is one tool call to be drawn.
type call struct {
	name      string
	about     string // one line: what it was called with
	status    session.Status
	took      string
	arguments string // pretty JSON, or as the model wrote it
	diff      string
	result    string
	images    []session.Part
}

func story(d Document) []item {
	var items []item
	for _, m := range d.Messages {
		if it, ok := tell(m); ok {
			items = append(items, it)
		}
	}
	return items
}

func tell(m session.Message) (item, bool) {
	it := item{kind: m.Role, at: m.Created, archived: m.Archived > 0}
	if m.Broken != "" {
		it.kind, it.who, it.text = "broken", "Not readable", m.Broken
		return it, true
	}
	switch m.Role {
	case session.RoleUser:
		it.who = "You"
	case session.RoleAssistant:
		it.who = "Assistant"
	case session.RoleSummary:
		it.who = "Summary of what came before"
	default:
		it.who = "Notice"
	}
	shown := ""
	for _, p := range m.Parts {
		switch p.Kind {
		case session.PartReasoning:
			it.reasoning += p.Text
		case session.PartImage:
			it.images = append(it.images, p)
		case session.PartShown:
			shown += p.Text
		}
	}
	it.text = clean(cmp.Or(shown, m.Text()))
	it.reasoning = clean(it.reasoning)
	for _, c := range m.Calls {
		it.calls = append(it.calls, tellCall(c))
	}
	return it, it.text != "" || it.reasoning != "" || len(it.images)+len(it.calls) > 0
}

func tellCall(c session.Call) call {
	out := call{name: text.Visible(c.Name), status: c.Status, result: clean(c.Result), images: c.Parts}
	if !c.Started.IsZero() && c.Ended.After(c.Started) {
		out.took = c.Ended.Sub(c.Started).Round(10 * time.Millisecond).String()
	}
	display, ran := displayOf(c)
	var args map[string]any
	if json.Unmarshal([]byte(ran), &args) == nil {
		var b bytes.Buffer
		if json.Indent(&b, []byte(ran), "", "  ") == nil {
			out.arguments = clean(b.String())
		}
		out.about = Telling(args)
	} else {
		out.arguments = clean(ran)
	}
	if display.ChangedBy != "" {
		out.arguments += "\nchanged by " + oneLine(display.ChangedBy) + " from " + clean(c.Arguments)
	}
	if len(c.Display) > 0 { // only for show
		out.diff = clean(display.Diff)
		if out.about == "" {
			out.about = oneLine(display.Summary)
		}
	}
	return out
}

// display is what exports use of what is stored for show.
type display struct {
	Summary   string          `json:"summary"`
	Diff      string          `json:"diff"`
	Ran       json.RawMessage `json:"ran"`
	ChangedBy string          `json:"changed_by"`
}

// displayOf returns what is stored for show with a call, and the arguments that it ran with.
func displayOf(c session.Call) (d display, ran string) {
	if len(c.Display) > 0 && json.Unmarshal(c.Display, &d) != nil {
		d = display{}
	}
	if d.ChangedBy == "" || len(d.Ran) == 0 {
		return d, c.Arguments
	}
	return d, string(d.Ran)
}

// Telling returns the most telling argument of a call on one line.
func Telling(args map[string]any) string {
	for _, key := range []string{"cmd", "path", "pattern", "src", "url", "name", "prompt", "question", "action"} {
		if s, ok := args[key].(string); ok && s != "" {
			return oneLine(s)
		}
	}
	return ""
}

func oneLine(s string) string {
	return text.Ellipsis(strings.Join(strings.Fields(text.Visible(text.Valid(s))), " "), 120)
}

func clean(s string) string { return strings.Trim(text.Clean(s), "\n") }

func title(d Document) string { return cmp.Or(oneLine(d.Session.Title), "Session "+d.Session.ID) }

// facts are the lines below the title.
func facts(d Document) [][2]string {
	v := d.Session
	all := [][2]string{{"Session", v.ID}}
	for _, f := range [][2]string{{"Folder", oneLine(v.Cwd)}, {"Model", oneLine(v.Model)}, {"Role", oneLine(v.RoleName)}} {
		if f[1] != "" {
			all = append(all, f)
		}
	}
	all = append(all, [2]string{"Begun", v.Created.Format("2006-01-02 15:04")}, [2]string{"Last used", v.Updated.Format("2006-01-02 15:04")})
	if v.InputTokens+v.OutputTokens > 0 {
		all = append(all, [2]string{"Tokens", tokens(v)})
	}
	if v.Cost > 0 {
		mark := ""
		if v.Estimated {
			mark = "~"
		}
		all = append(all, [2]string{"Cost", fmt.Sprintf("%s$%.4f", mark, v.Cost)})
	}
	return all
}

// tokens describes what a session used.
func tokens(v session.Session) string {
	cache := fmt.Sprintf("%d cached", v.CachedTokens)
	if v.WrittenTokens > 0 {
		cache += fmt.Sprintf(", %d written to the cache", v.WrittenTokens)
	}
	said := fmt.Sprintf("%d in (%s), %d out", v.InputTokens, cache, v.OutputTokens)
	if v.Estimated {
		said += " (estimated)"
	}
	return said
}

func imageNote(p session.Part) string {
	return fmt.Sprintf("[image %s, %d KB]", oneLine(p.MIME), (len(p.Data)+1023)/1024)
}
