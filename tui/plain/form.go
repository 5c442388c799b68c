package plain

import (
	"strconv"
	"strings"

	"jcode/agent/event"
	"jcode/internal/text"
	"jcode/tools"
	"jcode/tui/look"
)

// plainForm is a form that is filled in field by field, one line each.
type plainForm struct {
	form   tools.Form
	at     int
	values map[string]any
}

// form shows a form; the next lines fill it in.
func (p *shell) form(ev event.AskForm) {
	if ev.Form.Secret() { // a line here is shown while it is written
		p.say(look.OneLine(text.Clean(ev.Form.From)) + " asks for a password, which can't be written here unseen, so it gets none: " + text.Clean(ev.Form.Text))
		if err := p.conv.Fill(ev.ID, tools.FormAnswer{Action: tools.FormDecline}); err != nil {
			p.say(err.Error())
		}
		return
	}
	p.say("Question: " + look.OneLine(text.Clean(ev.Form.From)) + " asks: " + text.Clean(ev.Form.Text))
	if len(ev.Form.Fields) > 0 {
		p.say("Answer each field with a line. An empty line takes what stands in brackets, or leaves the field out; /decline and /cancel end the form.")
	}
	f := &plainForm{form: ev.Form, values: map[string]any{}}
	p.pose(plainAsk{id: ev.ID, form: f}, f.prompt())
}

// prompt asks for the next field.
func (f *plainForm) prompt() string {
	if f.at == len(f.form.Fields) {
		return "Send it? (yes or no) "
	}
	field := f.form.Fields[f.at]
	ask := look.OneLine(text.Clean(field.Label()))
	if field.Required {
		ask += "*"
	}
	for i := range field.Options {
		ask += "\n  " + strconv.Itoa(i+1) + ": " + look.OneLine(text.Clean(field.OptionLabel(i)))
	}
	if len(field.Options) > 0 {
		ask += "\n"
	} else {
		ask += " "
	}
	var notes []string
	for _, note := range []string{look.OneLine(text.Clean(field.Description)), field.Hint()} {
		if note != "" {
			notes = append(notes, note)
		}
	}
	switch field.Kind {
	case tools.FieldChoices:
		if len(field.Options) > 0 {
			notes = append(notes, "several with commas between")
		}
	case tools.FieldBoolean:
		notes = append(notes, "yes or no")
	}
	if len(notes) > 0 {
		ask += "(" + strings.Join(notes, "; ") + ") "
	}
	if field.Default != nil {
		ask += "[" + look.OneLine(text.Clean(field.Text(field.Default))) + "] "
	}
	return strings.TrimSpace(ask) + ": "
}

func isYes(line string) bool { return strings.EqualFold(line, "yes") || strings.EqualFold(line, "y") }

func isNo(line string) bool { return strings.EqualFold(line, "no") || strings.EqualFold(line, "n") }

// fill takes a line for a form and settles the form after the last one.
func (p *shell) fill(id string, f *plainForm, line string) {
	answer := tools.FormAnswer{Action: tools.FormAccept, Values: f.values}
	switch {
	case line == "/decline", f.at == len(f.form.Fields) && isNo(line):
		answer = tools.FormAnswer{Action: tools.FormDecline}
	case line == "/cancel":
		answer = tools.FormAnswer{Action: tools.FormCancel}
	case f.at < len(f.form.Fields):
		field := f.form.Fields[f.at]
		value, err := field.Parse(line)
		if err != nil {
			p.say("✗ " + err.Error())
			p.write(f.prompt())
			return
		}
		if value != nil {
			f.values[field.Name] = value
		}
		f.at++
		p.write(f.prompt())
		return
	case !isYes(line): // least of all an empty line
		p.write(f.prompt())
		return
	}
	err := p.conv.Fill(id, answer)
	p.closed(id)
	if err != nil {
		p.say(err.Error())
	}
}
