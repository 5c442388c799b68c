//go:build linux || darwin

package tui

import (
	"bytes"
	"context"
	"image"
	"image/png"
	"os"
	"strings"
	"testing"

	"jcode/agent/event"
	"jcode/tui/front"
	"jcode/tui/tuitest"
)

func TestDraggedPictureBecomesAMention(t *testing.T) {
	t.Parallel()
	p, f := still(t, 80, 24, func(o *front.Options) {
		o.Image = func(path string) (string, []byte, error) { return "image/png", []byte(path), nil }
	})
	p.paste(`'/home/u/my shot.png'`)
	press(p, "what is this?", "enter")
	f.Mu.Lock()
	defer f.Mu.Unlock()
	if len(f.Prompts) != 1 || len(f.Prompts[0].Images) != 1 || string(f.Prompts[0].Images[0].Data) != "/home/u/my shot.png" {
		t.Errorf("prompts %+v", f.Prompts)
	}
}

func TestANamedPictureIsAChip(t *testing.T) {
	t.Parallel()
	var shot bytes.Buffer
	if err := png.Encode(&shot, image.NewGray(image.Rect(0, 0, 64, 48))); err != nil {
		t.Fatal(err)
	}
	read := func(path string) (string, []byte, error) {
		if strings.HasSuffix(path, "shot.png") {
			return "image/png", shot.Bytes(), nil
		}
		return "", nil, os.ErrNotExist
	}
	for how, write := range map[string]func(p *program){
		"typed":             func(p *program) { press(p, "@shot.png", " ") },
		"dragged":           func(p *program) { settleCmd(p, p.paste("/home/u/shot.png")) },
		"dragged in quotes": func(p *program) { settleCmd(p, p.paste(`'/home/u/my shot.png'`)) },
		"completed": func(p *program) {
			p.in.Insert("@sho")
			settleCmd(p, p.complete.menuUpdate())
			press(p, "tab")
		},
		"recalled": func(p *program) { p.hist.add("see @shot.png"); press(p, "up") },
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			p, f := still(t, 80, 24, func(o *front.Options) {
				o.Image = read
				o.Files = func(context.Context) ([]string, error) { return []string{"shot.png"}, nil }
			})
			write(p)
			if s := tuitest.Stripped(p.frameText()); !strings.Contains(s, "shot.png 64×48]") {
				t.Fatalf("no chip:\n%s", s)
			}
			sent := strings.TrimSpace(p.in.Text())
			if strings.Contains(sent, "[") || !strings.Contains(sent, "@") {
				t.Errorf("the text is %q", sent)
			}
			press(p, "enter")
			f.Mu.Lock()
			prompts := f.Prompts
			f.Mu.Unlock()
			if len(prompts) != 1 || prompts[0].Text != sent || len(prompts[0].Images) != 1 {
				t.Fatalf("sent %+v", prompts)
			}
			feed(p, event.TurnStart{Prompt: sent, Seq: 1})
			if s := squeezed(tuitest.Stripped(p.frameText())); !strings.Contains(s, "shot.png64×48]") || strings.Contains(s, "shot.png\"") || strings.Contains(s, "@shot") {
				t.Errorf("no chip in the transcript:\n%s", tuitest.Stripped(p.frameText()))
			}
		})
	}
	p, _ := still(t, 80, 24, func(o *front.Options) { o.Image = read })
	press(p, "see @shot.png", " ", "backspace", "backspace")
	if s := p.in.Text(); s != "see " {
		t.Errorf("backspace leaves %q of a chip", s)
	}
	press(p, "@other.png", " ")
	if s := tuitest.Stripped(p.frameText()); !strings.Contains(s, "see @other.png") {
		t.Errorf("what is no file stays a word:\n%s", s)
	}
}
