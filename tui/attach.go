package tui

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"

	"jcode/agent"
	"jcode/agent/model"
)

// imageWord finds @file words that name a picture.
var imageWord = regexp.MustCompile(`(?i)(?:^|\s)@("[^"]+\.(?:png|jpe?g|gif|webp)"|\S+\.(?:png|jpe?g|gif|webp))`)

// imageFile recognises one pasted path of a picture.
var imageFile = regexp.MustCompile(`(?i)^['"]?(?:file://)?(?:/|~|\.{1,2}/|[a-z]:\\)[^\n]*\.(?:png|jpe?g|gif|webp)['"]?$`)

// attachImages adds the pictures that a prompt names with @, where the model sees.
func (p *outside) attachImages(m *agent.Prompt) error {
	if p.opt.Image == nil {
		return nil
	}
	for _, hit := range imageWord.FindAllStringSubmatch(m.Text, 8) {
		mime, data, err := p.opt.Image(strings.Trim(hit[1], `"`))
		if errors.Is(err, os.ErrNotExist) {
			continue // just a word
		}
		if err != nil {
			return fmt.Errorf("attach %s: %w", hit[1], err)
		}
		m.Images = append(m.Images, model.Image{MIME: mime, Data: data})
	}
	return nil
}
