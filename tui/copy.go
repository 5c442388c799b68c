package tui

import (
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"jcode/internal/text"
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
	for i := len(p.tr.Items) - 1; i >= 0; i-- {
		a, ok := p.tr.Items[i].(*transcript.Answer)
		if !ok {
			continue
		}
		s := a.Text()
		if arg == "" {
			return p.copyText(s)
		}
		n, err := strconv.Atoi(arg)
		blocks := codeBlocks(s)
		if err != nil || n < 1 || n > len(blocks) {
			p.Flash("the last answer has " + text.Count(len(blocks), "code block"))
			return nil
		}
		return p.copyText(blocks[n-1])
	}
	p.Flash("there is no answer to copy")
	return nil
}

// codeBlocks returns the contents of the fenced code blocks of an answer.
func codeBlocks(md string) []string {
	var out []string
	var block []string
	fence := ""
	for _, line := range strings.Split(md, "\n") {
		trimmed := strings.TrimSpace(line)
		switch {
		case fence == "" && (strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~")):
			fence = trimmed[:3]
			block = nil
		case fence != "" && strings.HasPrefix(trimmed, fence) && strings.Trim(trimmed, fence[:1]) == "":
			out = append(out, strings.Join(block, "\n"))
			fence = ""
		case fence != "":
			block = append(block, line)
		}
	}
	if fence != "" {
		out = append(out, strings.Join(block, "\n"))
	}
	return out
}
