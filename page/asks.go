package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"jcode/agent/event/wire"
	"jcode/internal/text"
	"jcode/tools"
)

// drawAsks returns the questions that wait.
func (t *transcript) drawAsks(v view) markup {
	var s sheet
	s.put(`<section id="asks" aria-label="Questions" role="region" aria-live="assertive"%s>`, hidden(len(t.asks) == 0))
	for _, a := range t.asks {
		s.put(`<div class="ask" id="%s">`, "ask-"+a.id)
		if a.from != "" {
			s.put(`<p class="who">Agent %s</p>`, a.from)
		}
		switch a.kind {
		case "approval_asked":
			drawApproval(&s, v, a)
		case "ask":
			drawAsk(&s, v, a)
		case "form":
			drawForm(&s, v, a)
		}
		if !v.may {
			s.put(`<p class="dim">This device watches: answer where the session runs.</p>`)
		}
		s.put(`</div>`)
	}
	s.put(`</section>`)
	return s.done()
}

func drawApproval(s *sheet, v view, a ask) {
	q := a.approval
	s.put(`<h2>%s</h2>`, q.Title)
	if q.Command != "" {
		s.put(`%s`, code("sh", q.Command))
	}
	if q.Diff != "" {
		s.put(`<div class="scroll" tabindex="0" role="group" aria-label="Changes">%s</div>`, code("diff", q.Diff))
	}
	for _, d := range q.Details {
		s.put(`<p class="plain">%s</p>`, d)
	}
	if !v.may {
		return
	}
	s.put(`<form class="act" method="post" action="%s/answer"><input type="hidden" name="id" value="%s">`, v.base, a.id)
	if len(q.Hunks) > 0 {
		s.put(`<fieldset class="hunks"><legend>Written by a yes that holds once</legend>`)
		for i, h := range q.Hunks {
			s.put(`<label><input type="checkbox" name="hunk" value="%d" checked> %s line %d +%d -%d</label>`, i, h.File, h.Line, h.Added, h.Removed)
		}
		s.put(`</fieldset>`)
	}
	s.put(`<div class="rows">`)
	for i, o := range q.Options {
		s.put(`<button name="option" value="%d" class="%s">%s`, i, "row "+string(o.Scope), o.Label)
		if len(o.Rules) > 0 && !strings.Contains(o.Label, o.Rules[0]) {
			s.put(` <small>%s</small>`, strings.Join(o.Rules, ", "))
		}
		s.put(`</button>`)
	}
	s.put(`</div>`)
	if slices.ContainsFunc(q.Options, func(o wire.Option) bool { return o.Scope == tools.AnswerNo }) {
		s.put(`<label class="word">Why not, for the model <input name="word" maxlength="2000" autocomplete="off" placeholder="goes along with a no"></label>`)
	}
	s.put(`</form>`)
}

func drawAsk(s *sheet, v view, a ask) {
	s.put(`<h2 class="plain">%s</h2>`, a.ask.Text)
	if !v.may {
		return
	}
	s.put(`<form class="act" method="post" action="%s/reply"><input type="hidden" name="id" value="%s"><div class="rows">`, v.base, a.id)
	for _, o := range a.ask.Options {
		s.put(`<button name="option" value="%s" class="row">%s</button>`, o, o)
	}
	s.put(`</div><label class="word">%s <input name="text" maxlength="20000" autocomplete="off"></label><button>Reply</button></form>`, map[bool]string{true: "Something else", false: "Your reply"}[len(a.ask.Options) > 0])
}

func drawForm(s *sheet, v view, a ask) {
	f := a.form
	s.put(`<h2 class="plain">%s</h2>`, f.Text)
	if f.From != "" {
		s.put(`<p class="dim">%s asks</p>`, f.From)
	}
	if f.Person {
		s.put(`<p class="dim">This form is filled in at the terminal.</p>`)
		return
	}
	if !v.may {
		return
	}
	s.put(`<form class="act fields" method="post" action="%s/fill"><input type="hidden" name="id" value="%s">`, v.base, a.id)
	for i, d := range f.Fields {
		drawField(s, fmt.Sprintf("f%d", i), d)
	}
	s.put(`<div class="rows"><button name="action" value="accept" class="row once">%s</button><button name="action" value="decline" class="row no" formnovalidate>%s</button></div></form>`, cmp.Or(f.Yes, "Send"), cmp.Or(f.No, "Decline"))
}

func drawField(s *sheet, name string, d wire.Field) {
	label := cmp.Or(d.Title, d.Name)
	var need markup
	if d.Required {
		need = " required"
	}
	labelOf := func(i int) string {
		if i < len(d.Labels) {
			return d.Labels[i]
		}
		return d.Options[i]
	}
	given := ""
	if d.Default != nil {
		given = fmt.Sprint(d.Default)
	}
	switch kind := d.Kind; {
	case kind == tools.FieldBoolean:
		s.put(`<label><input type="checkbox" name="%s" value="true"%s> %s</label>`, name, checked(given == "true"), label)
	case kind == tools.FieldChoice && len(d.Options) > 0:
		s.put(`<label>%s <select name="%s"%s>`, label, name, need)
		if !d.Required {
			s.put(`<option value=""></option>`)
		}
		for i, o := range d.Options {
			s.put(`<option value="%s"%s>%s</option>`, o, selected(o == given), labelOf(i))
		}
		s.put(`</select></label>`)
	case kind == tools.FieldChoices:
		list, _ := d.Default.([]any)
		s.put(`<fieldset><legend>%s</legend>`, label)
		for i, o := range d.Options {
			s.put(`<label><input type="checkbox" name="%s" value="%s"%s> %s</label>`, name, o, checked(slices.Contains(list, any(o))), labelOf(i))
		}
		s.put(`</fieldset>`)
	case kind == tools.FieldNumber || kind == tools.FieldInteger:
		s.put(`<label>%s <input name="%s" inputmode="decimal" value="%s"%s></label>`, label, name, given, need)
	default:
		format := map[string]string{"email": "email", "uri": "url", "date": "date"}[d.Format]
		s.put(`<label>%s <input type="%s" name="%s" value="%s"%s></label>`, label, cmp.Or(format, "text"), name, given, need)
	}
	if d.Description != "" {
		s.put(`<p class="dim">%s</p>`, text.Clean(d.Description))
	}
}

func checked(yes bool) markup {
	if yes {
		return " checked"
	}
	return ""
}

func selected(yes bool) markup {
	if yes {
		return " selected"
	}
	return ""
}

// filled returns the values of a form's fields as its owner wants them.
func filled(f wire.Form, form map[string][]string) (map[string]any, error) {
	out := map[string]any{}
	for i, d := range f.Fields {
		list := form[fmt.Sprintf("f%d", i)]
		switch {
		case d.Kind == tools.FieldBoolean:
			out[d.Name] = len(list) > 0
		case d.Kind == tools.FieldChoices:
			out[d.Name] = append([]string{}, list...)
		case len(list) == 0 || list[0] == "":
		case d.Kind == tools.FieldNumber || d.Kind == tools.FieldInteger:
			var n float64
			if _, err := fmt.Sscan(list[0], &n); err != nil {
				return nil, fmt.Errorf("%s: %q is no number", cmp.Or(d.Title, d.Name), list[0])
			}
			out[d.Name] = n
		default:
			out[d.Name] = list[0]
		}
	}
	return out, nil
}
