//go:build linux

package tui

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"jcode/agent/event"
	"jcode/internal/testkit/programs"
	"jcode/tui/front"
)

// onPath sets PATH to a folder that contains only these scripts, so that no real clipboard program is found.
func onPath(t *testing.T, scripts map[string]string) {
	t.Helper()
	if _, err := os.Stat("/bin/sh"); err != nil {
		t.Skip("no /bin/sh")
	}
	t.Setenv("PATH", programs.Write(t, scripts))
}

// pngStart prints as much of a picture as is needed to detect its type.
const pngStart = `printf '\211PNG\r\n\032\n0123456789'`

func TestPictureFromTheClipboardIsSent(t *testing.T) {
	for name, c := range map[string]struct {
		env, tool, script, kind string
	}{
		"wayland":             {"WAYLAND_DISPLAY=w", "wl-paste", `case "$*" in --list-types) echo text/html; echo image/png;; *"--type image/png") ` + pngStart + `;; *) exit 1;; esac`, "png"},
		"x11":                 {"DISPLAY=:0", "xclip", `case "$*" in *TARGETS) echo TIMESTAMP; echo image/png;; *"-t image/png") ` + pngStart + `;; *) exit 1;; esac`, "png"},
		"x11, no png":         {"DISPLAY=:0", "xclip", `case "$*" in *TARGETS) echo image/jpeg;; *"-t image/jpeg") printf '\377\330\377\340abc';; *) exit 1;; esac`, "jpeg"},
		"windows underneath":  {"WSL_DISTRO_NAME=d", "powershell.exe", `case "$*" in *GetImage*) echo iVBORw0KGgowMTIz;; *) exit 1;; esac`, "png"},
		"its window is away":  {"WAYLAND_DISPLAY=w", "wl-paste", `case "$*" in --list-types) echo image/png;; *) ` + pngStart + `; echo leftover >&2;; esac`, "png"},
		"named for something": {"WAYLAND_DISPLAY=w", "wl-paste", `case "$*" in --list-types) echo image/png;; *) printf 'GIF89a1234';; esac`, "gif"},
	} {
		t.Run(name, func(t *testing.T) {
			onPath(t, map[string]string{c.tool: c.script})
			dir := filepath.Join(t.TempDir(), "pictures")
			r := run(t, 80, 24, func(o *front.Options) {
				o.Env = append(o.Env, c.env)
				o.Pictures = dir
				o.Image = func(path string) (string, []byte, error) {
					data, err := os.ReadFile(path)
					return "image/" + strings.TrimPrefix(filepath.Ext(path), "."), data, err
				}
			}).ready()
			r.Type("what is")
			r.see("› what is")
			r.Press("ctrl+v")
			r.see("› what is [Picture #1")
			r.Type("this?")
			r.see("] this?")
			r.Press("enter")
			r.until("the prompt is sent", func() bool { return len(r.fake.Sent()) == 1 })
			r.fake.Mu.Lock()
			prompt := r.fake.Prompts[0]
			r.fake.Mu.Unlock()
			if len(prompt.Images) != 1 || prompt.Images[0].MIME != "image/"+c.kind || len(prompt.Images[0].Data) == 0 {
				t.Errorf("images %v", prompt.Images)
			}
			text := strings.ReplaceAll(prompt.Text, `"`, "") // around a folder with spaces
			if !strings.Contains(text, "what is @"+dir) || !strings.HasSuffix(text, "."+c.kind+" this?") {
				t.Errorf("the text is %q", prompt.Text)
			}
			kept, err := filepath.Glob(filepath.Join(dir, "*"))
			if err != nil || len(kept) != 1 {
				t.Fatalf("kept %v, %v", kept, err)
			}
			if info, err := os.Stat(kept[0]); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%v, %v", info.Mode(), err)
			}
		})
	}
}

func TestEmptyPasteAsksTheClipboardForAPicture(t *testing.T) {
	onPath(t, map[string]string{"wl-paste": `case "$*" in --list-types) echo image/png;; *) ` + pngStart + `;; esac`})
	r := run(t, 80, 24, func(o *front.Options) {
		o.Env, o.Pictures = append(o.Env, "WAYLAND_DISPLAY=w"), t.TempDir()
	}).ready()
	r.Paste("") // some terminals send this when a picture is pasted
	r.see("› [Picture #1")
}

func TestClipboardWithoutAPicture(t *testing.T) {
	for name, c := range map[string]struct {
		env     string
		scripts map[string]string
		want    string
	}{
		"text":                 {"WAYLAND_DISPLAY=w", map[string]string{"wl-paste": `case "$*" in --list-types) echo text/plain;; --no-newline) printf 'some text';; *) exit 1;; esac`}, "› some text"},
		"nothing":              {"DISPLAY=:0", map[string]string{"xclip": `exit 0`}, "the clipboard is empty"},
		"no program, wayland":  {"WAYLAND_DISPLAY=w", nil, "install wl-clipboard"},
		"no program, x11":      {"DISPLAY=:0", nil, "install xclip"},
		"no screen":            {"SSH_CONNECTION=a", nil, "the machine that you sit at"},
		"nowhere":              {"X=y", nil, "Nothing here reads the clipboard."},
		"it fails":             {"DISPLAY=:0", map[string]string{"xclip": `echo "no display" >&2; exit 1`}, "could not be read: xclip"},
		"no picture after all": {"DISPLAY=:0", map[string]string{"xclip": `case "$*" in *TARGETS) echo image/png;; *image/png) printf '<html>';; *) printf 'words';; esac`}, "› words"},
	} {
		t.Run(name, func(t *testing.T) {
			onPath(t, c.scripts)
			r := run(t, 100, 24, func(o *front.Options) { o.Env, o.Pictures = append(o.Env, c.env), t.TempDir() }).ready()
			r.Press("alt+v")
			r.see(c.want)
		})
	}
}

func TestModelThatDoesNotSeeIsNamed(t *testing.T) {
	t.Parallel()
	r := run(t, 100, 24, func(o *front.Options) {
		o.Image = func(string) (string, []byte, error) { return "image/png", []byte("x"), nil }
	}).ready()
	r.fake.Mu.Lock()
	r.fake.Blind = true
	r.fake.Mu.Unlock()
	r.Type("see @a.png now")
	r.see("› see [a.png] now")
	r.Press("enter")
	r.see("test/model does not accept pictures")
}

func TestCopyingSaysWhatIsKnown(t *testing.T) {
	for name, c := range map[string]struct {
		env     []string
		scripts map[string]string
		said    string
		osc     string // the sequence that the terminal receives; "" = none
	}{
		"a program takes it":    {[]string{"WAYLAND_DISPLAY=w"}, map[string]string{"wl-copy": `cat > "$DIR/got"`}, "copied 1 line", ""},
		"a program fails":       {[]string{"WAYLAND_DISPLAY=w"}, map[string]string{"wl-copy": "exit 1"}, "sent 1 line to the terminal's clipboard: paste to check", "\x1b]52;c;"},
		"nothing is there":      {nil, nil, "sent 1 line to the terminal's clipboard: paste to check", "\x1b]52;c;"},
		"tmux":                  {[]string{"TMUX=/tmp/x,1,0"}, map[string]string{"tmux": `[ "$TMUX" = /tmp/x,1,0 ] && [ "$1 $2" = "load-buffer -w" ] && cat > "$DIR/got"`}, "copied 1 line to tmux", ""},
		"an old tmux":           {[]string{"TMUX=/tmp/x,1,0"}, map[string]string{"tmux": `[ "$1 $2" = "load-buffer -" ] && cat > "$DIR/got"`}, "copied 1 line to tmux", ""},
		"screen":                {[]string{"STY=1.x"}, nil, "sent 1 line", "\x1bP\x1b]52;c;"},
		"a program, but remote": {[]string{"WAYLAND_DISPLAY=w", "SSH_TTY=/dev/pts/1"}, map[string]string{"wl-copy": `cat > "$DIR/got"`}, "copied 1 line", "\x1b]52;c;"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			scripts := map[string]string{}
			for tool, body := range c.scripts {
				scripts[tool] = "PATH=/usr/bin:/bin; DIR=" + dir + "\n" + body
			}
			onPath(t, scripts)
			r := run(t, 100, 24, func(o *front.Options) { o.Env = append(o.Env, c.env...) }).ready()
			r.fake.Emit(event.TextDelta{Text: "the answer"}, event.AssistantMessage{Text: "the answer"}, event.TurnEnd{Reason: event.StopDone})
			r.see("the answer")
			r.Type("/copy")
			r.see("› /copy")
			r.Press("enter")
			r.see(c.said)
			if strings.HasPrefix(c.said, "copied") {
				if got, err := os.ReadFile(filepath.Join(dir, "got")); err != nil || string(got) != "the answer" {
					t.Errorf("the program got %q (%v)", got, err)
				}
			}
			if c.osc != "" {
				r.until("the terminal is told", func() bool { return strings.Contains(r.Output(), c.osc) })
			} else if strings.Contains(r.Output(), "\x1b]52;") {
				t.Error("the terminal is told as well")
			}
		})
	}
}
