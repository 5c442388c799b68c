package tui

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"

	"jcode/agent/event"
	"jcode/agent/model"
	"jcode/internal/cells"
	"jcode/internal/pattern"
	"jcode/internal/picture"
	"jcode/internal/text"
	"jcode/session"
)

// imageWord finds @file words that name a picture.
var imageWord = pattern.Lazy(`(?i)(?:^|\s)@("[^"]+\.(?:png|jpe?g|gif|webp)"|\S+\.(?:png|jpe?g|gif|webp))`)

// imageFile recognises one pasted path of a picture.
var imageFile = pattern.Lazy(`(?i)^['"]?(?:file://)?(?:/|~|\.{1,2}/|[a-z]:\\)[^\n]*\.(?:png|jpe?g|gif|webp)['"]?$`)

// mostPictures bounds the pictures of one prompt.
const mostPictures = 8

// mostText bounds the text, in bytes, that is searched for names of pictures while it is written.
const mostText = 64 << 10

// chips are the labels of pictures by the word that names each ("@shot.png"), as the input
// and the transcript show them.
type chips map[string]string

// label describes a picture: its file's name and its size in pixels.
func label(name string, data []byte) string {
	name = cells.FitMiddle(oneLine(text.Visible(name)), 40)
	if w, h, ok := picture.Size(data); ok {
		return fmt.Sprintf("[%s %d×%d]", name, w, h)
	}
	return "[" + name + "]"
}

// namedPictures reads the pictures that a prompt names with @, and labels each.
func namedPictures(read func(path string) (mime string, data []byte, err error), prompt string) ([]model.Image, chips, error) {
	if read == nil || !strings.Contains(prompt, "@") {
		return nil, nil, nil
	}
	var images []model.Image
	labels := chips{}
	for _, hit := range imageWord().FindAllStringSubmatch(prompt, mostPictures) {
		file := strings.Trim(hit[1], `"`)
		mime, data, err := read(file)
		if errors.Is(err, os.ErrNotExist) {
			continue // just a word
		}
		if err != nil {
			return nil, nil, fmt.Errorf("attach %s: %w", hit[1], err)
		}
		images = append(images, model.Image{MIME: mime, Data: data})
		labels["@"+hit[1]] = label(filepath.Base(file), data)
	}
	return images, labels, nil
}

// attachImages adds the pictures that a prompt names with @.
func (p *outside) attachImages(m *event.Prompt) error {
	images, labels, err := namedPictures(p.opt.Image, m.Text)
	if err != nil {
		return err
	}
	m.Images = append(m.Images, images...)
	for word, label := range labels {
		p.outside.named(word, label)
	}
	return nil
}

// blindNotice says what happens to pictures with a model that accepts none.
func blindNotice(model string, pictures int) string {
	return model + " takes no pictures: it only learns that " + count(pictures, "picture") + " came along. /model chooses another."
}

// named keeps the label of a picture; the first stays.
func (p *outside) named(word, label string) {
	if p.outside.chips == nil {
		p.outside.chips = chips{}
	}
	if p.outside.chips[word] == "" {
		p.outside.chips[word] = label
	}
}

// foldPictures turns the pictures that the input names into chips. Each is read first: what is not a picture
// stays a word.
func (p *outside) foldPictures(in string) tea.Cmd {
	if p.opt.Image == nil || len(in) > mostText || !strings.Contains(in, "@") {
		return nil
	}
	hits := imageWord().FindAllStringSubmatch(in, mostPictures)
	if len(hits) == 0 {
		return nil
	}
	return p.background(func(context.Context) do {
		labels := chips{}
		for _, hit := range hits {
			file := strings.Trim(hit[1], `"`)
			if _, data, err := p.opt.Image(file); err == nil { // otherwise it is reported when the prompt is sent
				labels["@"+hit[1]] = label(filepath.Base(file), data)
			}
		}
		return func() tea.Cmd {
			for word, label := range labels {
				p.outside.named(word, label)
				for p.in.Fold(word, p.outside.chips[word]) {
				}
			}
			return nil
		}
	})
}

// storedChips labels the pictures of a stored message, which holds them in the order of the words that name
// them.
func storedChips(prompt string, parts []session.Part) chips {
	var data [][]byte
	for _, part := range parts {
		if part.Kind == session.PartImage {
			data = append(data, part.Data)
		}
	}
	if len(data) == 0 {
		return nil
	}
	hits := imageWord().FindAllStringSubmatch(prompt, mostPictures)
	if len(hits) != len(data) { // some word did not name a picture, and it is no longer known which
		return nil
	}
	c := chips{}
	for i, hit := range hits {
		c["@"+hit[1]] = label(filepath.Base(strings.Trim(hit[1], `"`)), data[i])
	}
	return c
}

// lastMention returns the word that begins with the last @, which a space completes.
func lastMention(before string) string { return before[max(strings.LastIndexByte(before, '@'), 0):] }

// spans shows a prompt with its pictures as chips.
func (c chips) spans(prompt string, style, chip cells.Style) []cells.Span {
	if len(c) == 0 {
		return []cells.Span{{Text: prompt, Style: style}}
	}
	var out []cells.Span
	at := 0
	for _, hit := range imageWord().FindAllStringSubmatchIndex(prompt, mostPictures) {
		from, to := hit[2]-1, hit[3] // with the @
		label, known := c[prompt[from:to]]
		if !known {
			continue
		}
		out = append(out, cells.Span{Text: prompt[at:from], Style: style}, cells.Span{Text: strings.ReplaceAll(label, " ", "\u00a0"), Style: chip})
		at = to
	}
	return append(out, cells.Span{Text: prompt[at:], Style: style})
}
