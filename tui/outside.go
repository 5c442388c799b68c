package tui

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"jcode/agent"
	"jcode/agent/model"
	"jcode/tools"
)

// externalEditor opens the input in $VISUAL or $EDITOR, folded pastes in full.
func (p *program) externalEditor() tea.Cmd {
	dir, err := os.MkdirTemp("", "jcode")
	if err != nil {
		p.flash("cannot make a file for the editor: " + err.Error())
		return nil
	}
	file := filepath.Join(dir, "prompt.md")
	if err := os.WriteFile(file, []byte(p.in.Text()), 0o600); err != nil {
		p.flash("cannot write a file for the editor: " + err.Error())
		return nil
	}
	return p.edit(file, func(p *program, err error) tea.Cmd {
		data, rerr := os.ReadFile(file)
		if err = errors.Join(err, rerr, os.RemoveAll(dir)); err != nil {
			p.say(agent.LevelWarn, err.Error())
			return nil
		}
		s := strings.TrimRight(string(data), "\n")
		if s != p.in.Text() {
			p.in.Clear()
			p.in.Paste(s)
		}
		return nil
	})
}

// editorFor is the person's editor with a file.
func (p *program) editorFor(file string) *exec.Cmd {
	var editor []string
	for _, line := range []string{p.opt.Editor, p.env("VISUAL"), p.env("EDITOR")} {
		if editor = strings.Fields(line); len(editor) > 0 {
			break
		}
	}
	if len(editor) == 0 {
		editor = []string{"vi"}
	}
	return exec.CommandContext(p.ctx, editor[0], append(editor[1:], file)...)
}

// edit opens a file in the person's editor and then goes on with after.
func (p *program) edit(file string, after func(p *program, err error) tea.Cmd) tea.Cmd {
	return p.handOver(p.editorFor(file), func(err error) tea.Msg {
		if err != nil {
			err = fmt.Errorf("editor: %w", err)
		}
		return do(func(p *program) tea.Cmd {
			p.returned()
			return after(p, err)
		})
	})
}

// answers is how long after the start a terminal may take to answer what it is asked then.
const answers = 400 * time.Millisecond

// handOver gives another program the terminal: not while the terminal's answers to the
// questions of the start are on their way, for they would be typed into it.
func (p *program) handOver(cmd *exec.Cmd, after tea.ExecCallback) tea.Cmd {
	if p.keyboard != nil { // it reads the terminal itself, not what we make of it
		cmd.Stdin = p.keyboard.File
	}
	run := tea.ExecProcess(cmd, after)
	wait := answers - time.Since(p.began)
	if wait <= 0 {
		return run
	}
	return tea.Sequence(tea.Tick(wait, func(time.Time) tea.Msg { return nil }), run)
}

// returned takes the terminal again after a suspend or another program.
func (p *program) returned() {
	if p.painter != nil {
		p.painter.Back()
	}
}

func (p *program) env(name string) string {
	if p.opt.Env == nil {
		return os.Getenv(name)
	}
	for _, kv := range p.opt.Env {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			return v
		}
	}
	return ""
}

// shell runs a `!` line as the person; its output goes to the transcript.
func (p *program) shell(line string) tea.Cmd {
	if line == "" {
		return nil
	}
	args, err := json.Marshal(map[string]string{"cmd": line})
	if err != nil {
		p.say(agent.LevelError, err.Error())
		return nil
	}
	c := newCall("", "exec", args, time.Now())
	c.name = "!"
	p.tr.add(c)
	p.tr.toBottom()
	p.status = "running " + firstWord(line)
	send, start := p.send, time.Now()
	return p.background(func(ctx context.Context) do {
		err := p.opt.Shell(ctx, line, func(out string) {
			send(do(func(*program) tea.Cmd { c.progress("", out); return nil }))
		})
		return func(p *program) tea.Cmd {
			p.status = ""
			res := tools.Result{Text: c.tail}
			if err != nil {
				res.Failed = true
				res.Text = strings.TrimLeft(c.tail+"\n"+err.Error(), "\n")
			}
			c.open = true
			c.end(agent.CallEnd{Status: "done", Result: res, Duration: time.Since(start)})
			return nil
		}
	})
}

// imageWord finds @file words that name a picture.
var imageWord = regexp.MustCompile(`(?i)(?:^|\s)@("[^"]+\.(?:png|jpe?g|gif|webp)"|\S+\.(?:png|jpe?g|gif|webp))`)

// imageFile recognises one pasted path of a picture.
var imageFile = regexp.MustCompile(`(?i)^['"]?(?:file://)?(?:/|~|\.{1,2}/|[a-z]:\\)[^\n]*\.(?:png|jpe?g|gif|webp)['"]?$`)

// attachImages adds the pictures that a prompt names with @, where the model sees.
func (p *program) attachImages(m *agent.Prompt) error {
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

// notify rings where the person looks elsewhere: a turn ended or a question waits.
func (p *program) notify(title, body string) tea.Cmd {
	if !p.blurred || p.opt.Quiet {
		return nil
	}
	body = oneLine(tail(body, 80))
	clean := strings.NewReplacer("\x1b", "", "\x07", "", ";", ",", "\n", " ")
	return p.tell("\x1b]9;" + clean.Replace(title+": "+body) + "\x07" + "\x1b]777;notify;" + clean.Replace(title) + ";" + clean.Replace(body) + "\x07" + "\x07")
}

// tail gives the start of a text, at most n runes.
func tail(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i] + "…"
		}
		n--
	}
	return s
}

// copyItem copies the chosen item, a selection, or the last answer.
func (p *program) copyItem() tea.Cmd {
	if s := p.tr.selected(&p.look); s != "" {
		return p.copyText(s)
	}
	if i := p.tr.chosen; i >= 0 && i < len(p.tr.items) {
		return p.copyText(p.tr.items[i].text())
	}
	return p.copyAnswer("")
}

// copyAnswer copies the last answer, or its n-th code block.
func (p *program) copyAnswer(arg string) tea.Cmd {
	for i := len(p.tr.items) - 1; i >= 0; i-- {
		a, ok := p.tr.items[i].(*answerItem)
		if !ok {
			continue
		}
		s := a.text()
		if arg == "" {
			return p.copyText(s)
		}
		n, err := strconv.Atoi(arg)
		blocks := codeBlocks(s)
		if err != nil || n < 1 || n > len(blocks) {
			p.flash("the last answer has " + count(len(blocks), "code block"))
			return nil
		}
		return p.copyText(blocks[n-1])
	}
	p.flash("there is no answer to copy")
	return nil
}

// codeBlocks gives the contents of the fenced code blocks of an answer.
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

// wheeled is a dialog that the mouse wheel scrolls, n lines down, while the pointer is on it.
type wheeled interface{ wheel(p *program, n int) }

func (pk *picker) wheel(p *program, n int) {
	act := actDown
	if n < 0 {
		act = actUp
	}
	for range 3 {
		if at := pk.at; n < 0 && at == 0 || n > 0 && at >= len(pk.shown)-1 {
			return // the wheel does not go round
		}
		pk.moveKey(p, act)
	}
}

// What scrolls by lines; drawing keeps it inside its text.
func (d *diffView) wheel(_ *program, n int)  { d.scroll = max(d.scroll+n, 0) }
func (a *approval) wheel(_ *program, n int)  { a.text.move(n) }
func (q *question) wheel(_ *program, n int)  { q.text.move(n) }
func (v *trustView) wheel(_ *program, n int) { v.text.move(n) }
func (h *helpView) wheel(p *program, n int)  { h.picker.wheel(p, n) }

// mouse scrolls, chooses and selects.
func (p *program) mouse(msg tea.MouseMsg) tea.Cmd {
	m := msg.Mouse()
	switch msg.(type) {
	case tea.MouseWheelMsg:
		n := 3
		if m.Button == tea.MouseWheelUp {
			n = -3
		}
		if d, ok := p.front().(wheeled); ok && m.Y >= p.tr.height {
			d.wheel(p, n)
			return nil
		}
		p.tr.scroll(&p.look, n)
	case tea.MouseClickMsg:
		p.tr.marked = marking{}
		if at, ok := p.tr.placeAt(&p.look, m.Y); ok && m.Button == tea.MouseLeft && m.Y < p.tr.height {
			p.tr.marked = marking{on: true, from: at, to: at, fromX: m.X, toX: m.X}
		}
	case tea.MouseMotionMsg:
		if p.tr.marked.on {
			if at, ok := p.tr.placeAt(&p.look, min(max(m.Y, 0), p.tr.height-1)); ok {
				p.tr.marked.to, p.tr.marked.toX, p.tr.marked.dragged = at, m.X, true
			}
		}
	case tea.MouseReleaseMsg:
		if p.tr.marked.on && p.tr.marked.dragged {
			p.tr.marked.on = false
			if s := p.tr.selected(&p.look); strings.TrimSpace(s) != "" {
				return p.copyText(s)
			}
		}
		if p.tr.marked.on { // a click on something folded unfolds it
			p.tr.marked = marking{}
			if at, ok := p.tr.placeAt(&p.look, m.Y); ok && at.line == 0 {
				p.tr.items[at.item].toggle()
			}
		}
	}
	return nil
}

// suspend hands the terminal back to the shell, where there is one to take it.
func (p *program) suspend() tea.Cmd {
	if !canSuspend() {
		p.flash("there is no shell to go back to")
		return nil
	}
	return tea.Suspend
}

// tell sends the terminal a sequence that draws nothing, such as a bell.
func (p *program) tell(seq string) tea.Cmd {
	if p.painter == nil {
		return tea.Raw(seq)
	}
	return func() tea.Msg { p.painter.Say(seq); return nil }
}
