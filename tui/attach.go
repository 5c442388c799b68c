package tui

import (
	"context"
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"

	"jcode/agent/event"
	"jcode/internal/pattern"
	"jcode/tui/dialog"
	"jcode/tui/transcript"
)

// imageFile recognises one pasted path of a picture.
var imageFile = pattern.Lazy(`(?i)^['"]?(?:file://)?(?:/|~|\.{1,2}/|[a-z]:\\)[^\n]*\.(?:png|jpe?g|gif|webp)['"]?$`)

// mostText bounds the text, in bytes, that is searched for names of pictures while it is written.
const mostText = 64 << 10

// attachImages adds the pictures that a prompt names with @.
func (p *outside) attachImages(m *event.Prompt) error {
	images, labels, err := transcript.NamedPictures(p.opt.Image, m.Text)
	if err != nil {
		return err
	}
	m.Images = append(m.Images, images...)
	for word, label := range labels {
		p.named(word, label)
	}
	return nil
}

// named keeps the label of a picture; the first stays.
func (p *outside) named(word, label string) {
	if p.chips == nil {
		p.chips = transcript.Chips{}
	}
	if p.chips[word] == "" {
		p.chips[word] = label
	}
}

// foldPictures turns the pictures that the input names into chips. Each is read first: what is not a picture
// stays a word.
func (p *outside) foldPictures(in string) tea.Cmd {
	if p.opt.Image == nil || len(in) > mostText || !strings.Contains(in, "@") {
		return nil
	}
	hits := transcript.NamedPicture().FindAllStringSubmatch(in, transcript.MostPictures)
	if len(hits) == 0 {
		return nil
	}
	return p.Background(func(context.Context) dialog.Do {
		labels := transcript.Chips{}
		for _, hit := range hits {
			file := strings.Trim(hit[1], `"`)
			if _, data, err := p.opt.Image(file); err == nil { // otherwise it is reported when the prompt is sent
				labels["@"+hit[1]] = transcript.Label(filepath.Base(file), data)
			}
		}
		return func() tea.Cmd {
			for word, label := range labels {
				p.named(word, label)
				for p.in.Fold(word, p.chips[word]) {
				}
			}
			return nil
		}
	})
}

// lastMention returns the word that begins with the last @, which a space completes.
func lastMention(before string) string { return before[max(strings.LastIndexByte(before, '@'), 0):] }
