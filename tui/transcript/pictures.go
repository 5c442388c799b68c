package transcript

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"jcode/agent/model"
	"jcode/internal/cells"
	"jcode/internal/pattern"
	"jcode/internal/picture"
	"jcode/internal/text"
	"jcode/session"
	"jcode/tui/look"
)

// NamedPicture finds @file words that name a picture.
var NamedPicture = pattern.Lazy(`(?i)(?:^|\s)@("[^"]+\.(?:png|jpe?g|gif|webp)"|\S+\.(?:png|jpe?g|gif|webp))`)

// MostPictures bounds the pictures of one prompt.
const MostPictures = 8

// Chips are the labels of pictures by the word that names each ("@shot.png"), as the input
// and the transcript show them.
type Chips map[string]string

// Label describes a picture: its file's name and its size in pixels.
func Label(name string, data []byte) string {
	name = cells.FitMiddle(look.OneLine(text.Visible(name)), 40)
	if w, h, ok := picture.Size(data); ok {
		return fmt.Sprintf("[%s %d×%d]", name, w, h)
	}
	return "[" + name + "]"
}

// NamedPictures reads the pictures that a prompt names with @, and labels each.
func NamedPictures(read func(path string) (mime string, data []byte, err error), prompt string) ([]model.Image, Chips, error) {
	if read == nil || !strings.Contains(prompt, "@") {
		return nil, nil, nil
	}
	var images []model.Image
	labels := Chips{}
	for _, hit := range NamedPicture().FindAllStringSubmatch(prompt, MostPictures) {
		file := strings.Trim(hit[1], `"`)
		mime, data, err := read(file)
		if errors.Is(err, os.ErrNotExist) {
			continue // just a word
		}
		if err != nil {
			return nil, nil, fmt.Errorf("attach %s: %w", hit[1], err)
		}
		images = append(images, model.Image{MIME: mime, Data: data})
		labels["@"+hit[1]] = Label(filepath.Base(file), data)
	}
	return images, labels, nil
}

// storedChips labels the pictures of a stored message, which holds them in the order of the words that name
// them.
func storedChips(prompt string, parts []session.Part) Chips {
	var data [][]byte
	for _, part := range parts {
		if part.Kind == session.PartImage {
			data = append(data, part.Data)
		}
	}
	if len(data) == 0 {
		return nil
	}
	hits := NamedPicture().FindAllStringSubmatch(prompt, MostPictures)
	if len(hits) != len(data) { // some word did not name a picture, and it is no longer known which
		return nil
	}
	c := Chips{}
	for i, hit := range hits {
		c["@"+hit[1]] = Label(filepath.Base(strings.Trim(hit[1], `"`)), data[i])
	}
	return c
}

// spans shows a prompt with its pictures as chips.
func (c Chips) spans(prompt string, style, chip cells.Style) []cells.Span {
	if len(c) == 0 {
		return []cells.Span{{Text: prompt, Style: style}}
	}
	var out []cells.Span
	at := 0
	for _, hit := range NamedPicture().FindAllStringSubmatchIndex(prompt, MostPictures) {
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
