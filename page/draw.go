package page

import (
	"cmp"
	"encoding/json"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"jcode/internal/text"
	"jcode/internal/toolcard"
	"jcode/session/export"
)

// shown is how many items of a transcript are drawn at first; earlier ones come on demand.
const shown = 100

// The bounds of what is drawn of one item, in bytes.
const (
	maxOutput    = 64 << 10
	maxArguments = 16 << 10
	openDiff     = 60 // lines of a diff that is shown unfolded
)

// draw returns an item as HTML.
func (b *block) draw() markup {
	if b.cached == "" {
		var s sheet
		switch b.kind {
		case "user":
			at := markup("")
			if b.link != "" && b.seq > 0 {
				var l sheet
				l.put(`<a class="open" href="%s/rewind?seq=%d" aria-label="%s: go back to before this prompt">↶ <time>%s</time></a>`, b.link, b.seq, b.at, b.at)
				at = l.done()
			} else {
				at = markup("<time>" + escape(b.at) + "</time>")
			}
			s.put(`<article class="user" id="%s"><p class="who">You %s</p><div class="text plain">%s</div></article>`, b.id, at, b.text)
		case "assistant":
			s.put(`<article class="assistant" id="%s">`, b.id)
			if b.reasoning != "" {
				s.put(`<details class="reasoning"><summary>Reasoning</summary><div>%s</div></details>`, b.reasoning)
			}
			if b.text != "" {
				s.put(`<div class="text">%s</div>`, markup(export.Prose(text.Clean(b.text))))
			}
			s.put(`</article>`)
		case "notice":
			s.put(`<p class="notice %s" id="%s">%s</p>`, b.level, b.id, b.text)
		case "call":
			s.put(`%s`, b.drawCall())
		}
		b.cached = s.done()
	}
	return b.cached
}

func (b *block) drawCall() markup {
	c, s := b.call, sheet{}
	state, class := "running", "running"
	var diff, output, took, summary string
	output = c.output
	if c.doing != "" {
		state = c.doing
	}
	arguments := c.Arguments
	if r := c.result; r != nil {
		state = cmp.Or(r.Status, map[bool]string{true: "done", false: "failed"}[r.OK])
		class = state
		output = toolcard.ForPeople(r.Content)
		took = (time.Duration(r.DurationMS) * time.Millisecond).Round(10 * time.Millisecond).String()
		if d := r.Display; d != nil {
			diff, summary = d.Diff, d.Summary
			if len(d.Ran) > 0 {
				arguments = d.Ran
			}
		}
	}
	open := ""
	if diff != "" && strings.Count(diff, "\n") <= openDiff {
		open = " open"
	}
	s.put(`<details class="call %s" id="%s"%s><summary><b>%s</b> <code>%s</code> <i>%s</i></summary>`, class, b.id, markup(open), text.Visible(c.Name), telling(arguments), strings.Join(slices.DeleteFunc([]string{state, summary, took}, func(s string) bool { return s == "" || s == "0s" }), " · "))
	if diff != "" {
		s.put(`%s`, code("diff", diff))
	} else if pretty := indented(arguments); pretty != "" {
		s.put(`%s`, code("json", text.Cut(pretty, maxArguments)))
	}
	if output != "" && diff == "" {
		s.put(`%s`, code("", text.CutTail(output, maxOutput)))
	}
	if c.result != nil {
		for _, p := range c.result.Parts {
			s.put(`%s`, markup(export.Picture(p.MIME, p.Data)))
		}
	}
	s.put(`</details>`)
	return s.done()
}

// code returns source as a block that nothing in it drives.
func code(lang, source string) markup {
	return markup(export.Code(lang, strings.Trim(text.Clean(source), "\n")))
}

// telling returns the most telling argument of a call.
func telling(raw json.RawMessage) string {
	var args map[string]any
	if json.Unmarshal(raw, &args) != nil {
		return ""
	}
	return export.Telling(args)
}

// indented returns arguments for reading, "" for none.
func indented(raw json.RawMessage) string {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return string(raw)
	}
	if m, ok := v.(map[string]any); ok && len(m) == 0 || v == nil {
		return ""
	}
	out, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return string(raw)
	}
	return string(out)
}

// drawLog returns the last items before one, or of all.
func (t *transcript) drawLog(before, around, base string) markup {
	end := len(t.blocks)
	if i := slices.IndexFunc(t.blocks, func(b *block) bool { return b.id == around }); around != "" && i >= 0 {
		end = min(end, i+shown/2)
	}
	if i := slices.IndexFunc(t.blocks, func(b *block) bool { return b.id == before }); before != "" && i >= 0 {
		end = i
	}
	var s sheet
	from := max(0, end-shown)
	switch {
	case t.earlier > 0 && end > 0:
		s.put(`<p class="earlier" id="earlier"><a href="%s?before=%s">Earlier items</a></p>`, base, t.blocks[from].id)
	case from > 0:
		s.put(`<p class="earlier" id="earlier"><a href="%s?before=%s">%d earlier items</a></p>`, base, t.blocks[from].id, from)
	}
	for _, b := range t.blocks[from:end] {
		s.put("%s\n", b.draw())
	}
	return s.done()
}

// drawLive returns what streams.
func (t *transcript) drawLive() markup {
	var s sheet
	s.put(`<div id="live">`)
	for i, p := range t.live.done {
		s.put(`%s`, pieceOf(i, p.html))
	}
	s.put(`%s%s</div>`, t.drawOpen(), t.drawDoing())
	return s.done()
}

func pieceOf(i int, html markup) markup {
	var s sheet
	s.put(`<div class="text" id="l%d" data-before="open">%s</div>`, i, html)
	return s.done()
}

func (t *transcript) drawOpen() markup {
	var s sheet
	s.put(`<div class="text" id="open">%s</div>`, markup(export.Prose(text.Clean(t.live.open))))
	return s.done()
}

func (t *transcript) drawDoing() markup {
	var s sheet
	if t.live.doing == "" {
		return `<p id="doing" class="doing" hidden></p>`
	}
	s.put(`<p id="doing" class="doing">%s</p>`, t.live.doing)
	return s.done()
}

// urgency says in a word how much a session needs somebody, and in the words of jcode sessions ps.
func urgency(asks int, busy bool) (class, words string) {
	switch {
	case asks > 0:
		return "needs", "needs you"
	case busy:
		return "working", "working"
	}
	return "idle", "idle"
}

// drawState returns the line at the top.
func (t *transcript) drawState(v view) markup {
	var s sheet
	class, words := urgency(len(t.asks), t.state.Busy)
	if v.stored {
		class, words = "stored", "not open"
	}
	s.put(`<header id="state" class="bar" data-state="%s" data-title="%s"><a class="back" href="%s" aria-label="All sessions">‹</a><h1>%s</h1><span class="chip %s" role="status">%s</span>`,
		class, cmp.Or(t.state.Title, "jcode"), v.home, cmp.Or(text.OneLine(t.state.Title), "(no title)"), class, words)
	if v.may && t.state.Busy {
		s.put(`<form class="act" method="post" action="%s/interrupt"><button class="stop">Stop</button></form>`, v.base)
	}
	s.put(`<p class="facts">%s · %s · <b>%s</b></p></header>`, filepath.Base(t.state.Cwd), t.state.Model, string(t.state.Mode))
	return s.done()
}

func (t *transcript) drawQueue(v view) markup {
	var s sheet
	s.put(`<ul id="queue" class="queue" aria-label="Queued prompts"%s>`, hidden(len(t.queue) == 0))
	for _, q := range t.queue {
		s.put(`<li><span>%s</span>`, text.Ellipsis(text.OneLine(q.Text), 200))
		if v.may {
			s.put(`<form class="act" method="post" action="%s/unqueue"><input type="hidden" name="id" value="%s"><button aria-label="Take out of the queue">×</button></form>`, v.base, q.ID)
		}
		s.put(`</li>`)
	}
	s.put(`</ul>`)
	return s.done()
}

func hidden(yes bool) markup {
	if yes {
		return " hidden"
	}
	return ""
}

func (t *transcript) drawPlan() markup {
	var s sheet
	done := 0
	for _, it := range t.todo.Items {
		if it.Status == "done" {
			done++
		}
	}
	s.put(`<details id="plan" class="aside"%s><summary>Plan %d/%d</summary><ul>`, hidden(len(t.todo.Items) == 0), done, len(t.todo.Items))
	for _, it := range t.todo.Items {
		mark := map[string]string{"done": "✓", "in_progress": "▸"}[it.Status]
		s.put(`<li class="%s"><span aria-hidden="true">%s</span> %s</li>`, it.Status, cmp.Or(mark, "○"), it.Text)
	}
	s.put(`</ul></details>`)
	return s.done()
}

func (t *transcript) drawAgents(v view) markup {
	var s sheet
	s.put(`<details id="agents" class="aside"%s><summary>Agents %d</summary><ul>`, hidden(len(t.agents) == 0), len(t.agents))
	for _, a := range t.agents {
		s.put(`<li><a class="open" href="%s/agents/%s"><b>%s</b></a> %s <span class="dim">%s</span></li>`, v.base, url.PathEscape(a.Name), a.Name, string(a.Status), text.Ellipsis(text.OneLine(cmp.Or(a.Doing, a.Answer)), 200))
	}
	s.put(`</ul></details>`)
	return s.done()
}

func (t *transcript) drawUsage() markup {
	var s sheet
	s.put(`<p id="usage" class="usage"%s>`, hidden(t.usage == nil))
	if u := t.usage; u != nil {
		if u.Window > 0 {
			s.put(`%d%% of the context · `, 100*u.Context/u.Window)
		}
		if u.Total != nil {
			s.put(`%s tokens in, %s out`, thousands(u.Total.Input), thousands(u.Total.Output))
		}
		if u.CostUSD != nil {
			s.put(` · %s`, text.Spent(*u.CostUSD, false))
		}
	}
	s.put(`</p>`)
	return s.done()
}

func thousands(n int) string {
	if n < 10_000 {
		return strconv.Itoa(n)
	}
	return strconv.Itoa(n/1000) + "k"
}
