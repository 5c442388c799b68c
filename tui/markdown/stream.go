package markdown

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"

	"jcode/internal/text"
)

// Stream renders a text that is still being written. Lines of finished blocks are rendered once; a delta
// costs as much as the open block, and a line of an open code block as much as the line. After Close the
// lines are those of Render for the whole text.
type Stream struct {
	opts   Options
	parser parser.Parser
	src    []byte
	strip  text.Stripper

	frozen int      // src[:frozen] is rendered in lines
	tried  int      // end of the complete lines at the last attempt to freeze
	lines  []string // finished
	tail   []string // of the open block
	dirty  bool
	refs   bool // a link target was defined somewhere: only Close applies it everywhere
	closed bool

	list  listRest
	fence *fence
}

// listRest is what must be known of the finished items of the open list.
type listRest struct {
	open   bool
	number int  // of the next item
	blank  bool // an empty line precedes the next item
}

// NewStream returns an empty Stream.
func NewStream(opts Options) *Stream {
	return &Stream{opts: opts, parser: newParser()}
}

// Append adds text at the end.
func (s *Stream) Append(delta string) {
	if delta == "" || s.closed {
		return
	}
	s.src = append(s.src, clean(s.strip.Next([]byte(delta)))...)
	s.dirty = true
}

// Close says that no more text follows.
func (s *Stream) Close() {
	if s.closed {
		return
	}
	s.src = append(s.src, clean(s.strip.Flush())...)
	s.update()
	s.closed = true
	if s.refs {
		s.renderWhole()
		return
	}
	if s.fence != nil {
		s.closeFence()
	}
	s.lines = append(s.lines, s.tail...)
	s.tail, s.frozen, s.fence, s.list = nil, len(s.src), nil, listRest{}
}

// Source returns the text so far, cleaned.
func (s *Stream) Source() string { return string(s.src) }

// Lines returns the lines that never change until Restyle, and those that may.
func (s *Stream) Lines() (finished, open []string) {
	if s.dirty {
		s.update()
	}
	return s.lines, s.tail
}

// Restyle renders everything again, for another width or other styles.
func (s *Stream) Restyle(opts Options) {
	s.opts = opts
	if s.closed {
		s.renderWhole()
		return
	}
	s.frozen, s.tried, s.lines, s.tail, s.fence, s.list = 0, 0, nil, nil, nil, listRest{}
	s.dirty = true
}

func (s *Stream) renderWhole() {
	doc, _ := parse(s.parser, s.src)
	r := newRenderer(s.src, s.opts)
	r.blocks(doc)
	s.lines, s.tail, s.frozen = r.lines, nil, len(s.src)
	s.fence, s.list = nil, listRest{}
}

// update finishes what is complete and renders what is open.
func (s *Stream) update() {
	s.dirty = false
	complete := bytes.LastIndexByte(s.src, '\n') + 1
	for complete > s.tried {
		s.tried = complete
		if s.fence == nil {
			s.freeze(complete)
		}
		if s.fence != nil && s.advanceFence(complete) {
			s.tried = s.frozen // what follows the closed code block is new
		}
	}
	s.renderTail()
}

// freeze renders the blocks of the complete lines that no later line can change: all but the last, and of a
// list all items but the last.
func (s *Stream) freeze(complete int) {
	origin := s.frozen
	src := s.src[origin:complete]
	doc, refs := parse(s.parser, src)
	s.refs = s.refs || refs
	last := openBlock(doc, src)
	if last == nil {
		return
	}
	start := lineStart(last, src)
	if start < 0 {
		return
	}
	if doc.FirstChild() != last {
		r := newRenderer(src, s.opts)
		r.next = s.list.number
		r.blocksUntil(doc, last)
		s.add(r.lines)
		s.frozen, s.list = origin+start, listRest{}
	}
	switch n := last.(type) {
	case *ast.List:
		s.freezeItems(n, src, origin)
	case *ast.FencedCodeBlock:
		s.openFence(n, src, start, origin)
	}
}

// openBlock returns the first block that later lines may still change: the last one, along with what the
// parser cut from the head of the same paragraph, a link target or the text above a table.
func openBlock(doc ast.Node, src []byte) ast.Node {
	last := doc.LastChild()
	for last != nil {
		prev := last.PreviousSibling()
		if prev == nil {
			break
		}
		cut := prev.Kind() == ast.KindLinkReferenceDefinition || last.Kind() == east.KindTable && prev.Kind() == ast.KindParagraph
		if !cut || blankBefore(src, lineStart(last, src)) {
			break
		}
		last = prev
	}
	if !ordered(doc, last, src) {
		return nil
	}
	return last
}

// ordered reports whether the blocks up to last are in the order of their positions. If a heading is cut out
// of a table's paragraph, the parser may swap them; such a block is not frozen until it is no longer the
// last.
func ordered(doc, last ast.Node, src []byte) bool {
	at := -1
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		start := lineStart(n, src)
		if start <= at {
			return false
		}
		at = start
		if n == last {
			return true
		}
	}
	return true
}

// blankBefore reports whether the line that ends at pos is blank.
func blankBefore(src []byte, pos int) bool {
	if pos <= 0 {
		return true
	}
	head := src[:pos-1]
	return len(bytes.TrimSpace(head[bytes.LastIndexByte(head, '\n')+1:])) == 0
}

// freezeItems finishes all items of a list but the last.
func (s *Stream) freezeItems(list *ast.List, src []byte, origin int) {
	last := list.LastChild()
	if last == nil || last == list.FirstChild() {
		return
	}
	start := lineStart(last, src)
	if start < 0 {
		return
	}
	r := newRenderer(src, s.opts)
	r.next = s.list.number
	number := r.items(list, last)
	s.add(r.lines)
	s.frozen = origin + start
	s.list = listRest{open: true, number: number, blank: last.HasBlankPreviousLines()}
}

// add appends finished lines of the next block, or of the open list's next items.
func (s *Stream) add(lines []string) {
	if len(lines) == 0 {
		return
	}
	if s.separated() {
		s.lines = append(s.lines, "")
	}
	s.lines = append(s.lines, lines...)
}

// separated reports whether an empty line precedes what follows.
func (s *Stream) separated() bool {
	if s.list.open {
		return s.list.blank
	}
	return len(s.lines) > 0
}

// renderTail renders what is not finished.
func (s *Stream) renderTail() {
	s.tail = s.tail[:0:0]
	if s.fence != nil {
		s.tail = s.fenceTail()
		return
	}
	if s.frozen == len(s.src) {
		return
	}
	src := s.src[s.frozen:]
	doc, refs := parse(s.parser, src)
	s.refs = s.refs || refs
	r := newRenderer(src, s.opts)
	r.next = s.list.number
	r.blocks(doc)
	if len(r.lines) > 0 && s.separated() {
		s.tail = append(s.tail, "")
	}
	s.tail = append(s.tail, r.lines...)
}
