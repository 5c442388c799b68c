package chat

import (
	"strconv"
	"unicode/utf8"
)

func (b *normalBody) deltas(c *chunk) {
	b.said += len(c.reasoning) + len(c.text)
	for _, raw := range c.details {
		b.said += len(raw)
		b.x.details = append(b.x.details, string(raw))
	}
	if len(c.message) > 0 {
		b.x.message = string(c.message)
	}
	if len(c.reasoning) > 0 {
		b.collect(pendReasoning, 0)
		b.pend.text = append(b.pend.text, c.reasoning...)
	}
	if len(c.text) > 0 {
		b.collect(pendText, 0)
		b.pend.text = append(b.pend.text, c.text...)
	}
	for i := range c.calls {
		d := &c.calls[i]
		b.said += len(d.args) + len(d.name) + len(d.id)
		at := b.calls.of(d)
		if len(d.extra) > 0 {
			b.x.keepWithCall(at, d.extra)
		}
		b.collect(pendCall, at)
		b.pend.id = append(b.pend.id, d.id...)
		b.pend.name = append(b.pend.name, d.name...)
		b.pend.text = append(b.pend.text, d.args...)
	}
}

// collect prepares for deltas of a type.
func (b *normalBody) collect(kind pendKind, call int) {
	if b.pend.kind != kind || b.pend.call != call {
		b.flush(true)
		b.pend.kind, b.pend.call = kind, call
	}
}

// flush writes what is pending as one chunk. Unless all is set, half a character at the end is kept back: its
// other half arrives with the next delta.
func (b *normalBody) flush(all bool) {
	p := &b.pend
	if p.kind == pendNothing {
		return
	}
	keep := 0
	if !all {
		keep = unfinished(p.text)
	}
	text := p.text[:len(p.text)-keep]
	if len(text) == 0 && p.kind != pendCall {
		return
	}
	b.out = append(b.out, `data: {"choices":[{"delta":{`...)
	switch p.kind {
	case pendText:
		b.out = append(b.out, `"content":"`...)
	case pendReasoning:
		b.out = append(b.out, `"reasoning_content":"`...)
	case pendCall:
		b.out = append(b.out, `"tool_calls":[{"index":`...)
		b.out = strconv.AppendInt(b.out, int64(p.call), 10)
		b.out = append(append(b.out, `,"id":"`...), p.id...)
		b.out = append(append(b.out, `","function":{"name":"`...), p.name...)
		b.out = append(b.out, `","arguments":"`...)
	case pendNothing:
	}
	b.out = append(append(b.out, text...), '"')
	if p.kind == pendCall {
		b.out = append(b.out, "}}]"...)
	}
	b.out = append(b.out, "}}]}\n\n"...)
	rest := copy(p.text, p.text[len(p.text)-keep:])
	p.text, p.id, p.name = p.text[:rest], p.id[:0], p.name[:0]
	if rest == 0 {
		p.kind = pendNothing
	}
}

// unfinished counts the bytes at the end of JSON text that are the first half of a character: of a surrogate
// pair of escapes, or of UTF-8.
func unfinished(text []byte) int {
	if n := len(text); n >= 6 && text[n-6] == '\\' && (text[n-5] == 'u') && (text[n-4] == 'd' || text[n-4] == 'D') {
		slashes := 0
		for i := n - 6; i >= 0 && text[i] == '\\'; i-- {
			slashes++
		}
		switch text[n-3] {
		case '8', '9', 'a', 'b', 'A', 'B':
			if slashes%2 == 1 {
				return 6
			}
		}
	}
	for n := 1; n <= utf8.UTFMax-1 && n <= len(text); n++ {
		if c := text[len(text)-n]; utf8.RuneStart(c) {
			if c >= utf8.RuneSelf && !utf8.FullRune(text[len(text)-n:]) {
				return n
			}
			return 0
		}
	}
	return 0
}
