package markdown

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// fence is a code block whose end has not arrived yet. Its lines are rendered one by one.
type fence struct {
	char      byte
	length    int
	highlight *Highlighter
	empty     bool // no line has been rendered so far
}

// openFence switches to rendering line by line when the last block is a code block that begins at the left
// margin and is not closed in src.
func (s *Stream) openFence(n *ast.FencedCodeBlock, src []byte, start, origin int) {
	block := src[start:]
	length := 0
	for length < len(block) && block[length] == block[0] {
		length++
	}
	if length < 3 || block[0] != '`' && block[0] != '~' {
		return
	}
	header := bytes.IndexByte(block, '\n') + 1
	f := &fence{char: block[0], length: length, empty: true}
	for line := range bytes.Lines(block[header:]) {
		if f.closes(line) {
			return
		}
	}
	f.highlight = NewHighlighter(string(n.Language(src)), s.opts.Styles.Syntax)
	if s.separated() {
		s.lines = append(s.lines, "")
	}
	s.fence, s.frozen, s.list = f, origin+start+header, listRest{}
}

// closes reports whether a line ends the block.
func (f *fence) closes(line []byte) bool {
	indent := 0
	for indent < len(line) && line[indent] == ' ' {
		indent++
	}
	if indent > 3 {
		return false
	}
	n := indent
	for n < len(line) && line[n] == f.char {
		n++
	}
	return n-indent >= f.length && len(bytes.TrimSpace(line[n:])) == 0
}

// advanceFence renders the complete lines of the open code block and reports whether it closed.
func (s *Stream) advanceFence(complete int) (closed bool) {
	for s.frozen < complete {
		end := s.frozen + bytes.IndexByte(s.src[s.frozen:complete], '\n') + 1
		line := s.src[s.frozen:end]
		s.frozen = end
		if s.fence.closes(line) {
			s.closeFence()
			return true
		}
		s.lines = append(s.lines, s.fenceLine(s.fence.highlight, line)...)
		s.fence.empty = false
	}
	return false
}

// fenceLine returns the screen lines of one line of code.
func (s *Stream) fenceLine(h *Highlighter, line []byte) []string {
	r := newRenderer(nil, s.opts)
	r.push("  ", "  ", 2)
	r.emitSpans(codeLine(h, strings.TrimSuffix(string(line), "\n"), r.room()))
	return r.lines
}

// fenceTail shows the line that is being written. It is coloured by a copy of the highlighter, since it will
// be rendered again.
func (s *Stream) fenceTail() []string {
	rest := s.src[s.frozen:]
	if len(rest) == 0 {
		if s.fence.empty {
			return s.fenceLine(s.fence.highlight, nil)
		}
		return nil
	}
	h := *s.fence.highlight
	return s.fenceLine(&h, rest)
}

// closeFence ends the open code block, even if the text ended inside it.
func (s *Stream) closeFence() {
	rest := s.src[s.frozen:]
	if s.closed && len(rest) > 0 && !s.fence.closes(rest) {
		s.lines = append(s.lines, s.fenceLine(s.fence.highlight, rest)...)
		s.fence.empty = false
	}
	if s.fence.empty {
		s.lines = append(s.lines, s.fenceLine(s.fence.highlight, nil)...)
	}
	s.fence, s.tail = nil, nil
}
