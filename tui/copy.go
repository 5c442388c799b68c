package tui

import (
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"jcode/internal/text"
	"jcode/tui/look"
	"jcode/tui/transcript"
)

// copyItem copies the chosen item, a selection, or the last answer.
func (p *outside) copyItem() tea.Cmd {
	if s := p.tr.Selected(&p.look); s != "" {
		return p.copyText(s)
	}
	if i := p.tr.Chosen; i >= 0 && i < len(p.tr.Items) {
		return p.copyText(p.tr.Items[i].Text())
	}
	return p.copyAnswer("")
}

// copyAnswer copies the last answer, or its n-th code block.
func (p *outside) copyAnswer(arg string) tea.Cmd {
	s, ok := p.lastAnswer()
	switch {
	case !ok:
		p.Flash("there is no answer to copy")
		return nil
	case arg == "":
		return p.copyText(s)
	}
	n, err := strconv.Atoi(arg)
	blocks := codeBlocks(s)
	if err != nil || n < 1 || n > len(blocks) {
		p.Flash("the last answer has " + text.Count(len(blocks), "code block"))
		return nil
	}
	return p.copyText(blocks[n-1].text)
}

// lastAnswer returns the text of the last answer.
func (s *scene) lastAnswer() (answer string, ok bool) {
	for _, it := range slices.Backward(s.tr.Items) {
		if a, is := it.(*transcript.Answer); is {
			return a.Text(), true
		}
	}
	return "", false
}

// blockNumbers completes the number of a code block of the last answer.
func (s *scene) blockNumbers(args string) (out []string) {
	answer, _ := s.lastAnswer()
	for i := range codeBlocks(answer) {
		if n := strconv.Itoa(i + 1); strings.HasPrefix(n, args) {
			out = append(out, n)
		}
	}
	return out
}

// blockOf says which code block of the last answer a number means: its language and its first line.
func (s *scene) blockOf(number string) string {
	answer, _ := s.lastAnswer()
	blocks := codeBlocks(answer)
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 || n > len(blocks) {
		return ""
	}
	b := blocks[n-1]
	return strings.TrimSpace(b.language + "  " + text.Headline(b.text))
}

// codeBlock is a fenced code block: its language, "" if none is named, and its contents.
type codeBlock struct{ language, text string }

// codeBlocks returns the fenced code blocks of an answer.
func codeBlocks(md string) []codeBlock {
	var out []codeBlock
	language := ""
	var block []string
	fence := ""
	for _, line := range strings.Split(md, "\n") {
		trimmed := strings.TrimSpace(line)
		switch {
		case fence == "" && (strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~")):
			fence = trimmed[:3]
			language = look.FirstWord(strings.TrimSpace(strings.TrimLeft(trimmed, fence[:1])))
			block = nil
		case fence != "" && strings.HasPrefix(trimmed, fence) && strings.Trim(trimmed, fence[:1]) == "":
			out = append(out, codeBlock{language, strings.Join(block, "\n")})
			fence = ""
		case fence != "":
			block = append(block, line)
		}
	}
	if fence != "" {
		out = append(out, codeBlock{language, strings.Join(block, "\n")})
	}
	return out
}
