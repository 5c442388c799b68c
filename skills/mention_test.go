package skills_test

import (
	"context"
	"encoding/binary"
	"strings"
	"testing"
	"unicode/utf16"

	"jcode/skills"
)

// What looks like a mention in a command file and names no file is text: a decorator, a package, a handle.
func TestMentionsThatNameNoFileStayText(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	write(t, "Use @app.get and npm i @scope/package@latest, ask @octocat. Style: @style.md. Not @./gone.md.", w.places.Project, ".jcode/commands/api.md")
	write(t, "Use @app.get and npm i @scope/package@latest, ask @octocat. Style: @style.md.", w.places.Project, ".jcode/commands/good.md")
	src := skills.NewCommandFiles(w.places, trustAll{}, &host{files: map[string]string{"style.md": "two blanks"}})
	out, err := find(t, src, "good").Run(context.Background(), "")
	if err != nil || !strings.HasPrefix(out.Prompt, "Use @app.get and npm i @scope/package@latest, ask @octocat.") || !strings.Contains(out.Prompt, "two blanks") {
		t.Errorf("%q, %v", out.Prompt, err)
	}
	if _, err := find(t, src, "api").Run(context.Background(), ""); err == nil || !strings.Contains(err.Error(), "./gone.md") {
		t.Errorf("an explicit path that is missing: %v", err)
	}
}

// Text that only looks like mentions may be long, and code with a parameter after an @ is text, too.
func TestTextWithManyHandlesIsNoListOfFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	handles := strings.Repeat("ask @octocat, then @hubot. ", 30)
	write(t, handles+"\nreplace(/on(\\w+)/g, '@$1=\"$2\"'); Style: @style.md; read @$1.", w.places.Project, ".jcode/commands/notes.md")
	src := skills.NewCommandFiles(w.places, trustAll{}, &host{files: map[string]string{"style.md": "two blanks"}})
	out, err := find(t, src, "notes").Run(context.Background(), "style.md")
	if err != nil || !strings.HasPrefix(out.Prompt, handles) || !strings.Contains(out.Prompt, `'@style.md=""'`) || strings.Count(out.Prompt, "two blanks") != 2 {
		t.Errorf("%q, %v", out.Prompt, err)
	}
	if _, err := find(t, src, "notes").Run(context.Background(), "gone.md"); err == nil || !strings.Contains(err.Error(), "@gone.md") {
		t.Errorf("an argument that names no file: %v", err)
	}
}

// A file with blanks in its name is mentioned in quotes, or with backslashes.
func TestFilesWithBlanksAreMentioned(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	write(t, "Look at @\"my notes/a b.md\" and @c\\ d.md, then @\"not a file\" and @e\\ f, @\"$1/style guide.md\".", w.places.Project, ".jcode/commands/look.md")
	src := skills.NewCommandFiles(w.places, trustAll{}, &host{files: map[string]string{"my notes/a b.md": "one", "c d.md": "two", "docs/style guide.md": "three"}})
	out, err := find(t, src, "look").Run(context.Background(), "docs")
	want := "Look at my notes/a b.md and c d.md, then @\"not a file\" and @e\\ f, docs/style guide.md."
	if err != nil || !strings.HasPrefix(out.Prompt, want+"\n\n<file") || !strings.Contains(out.Prompt, "one\n</file>") || !strings.Contains(out.Prompt, "two\n</file>") || !strings.Contains(out.Prompt, "three\n</file>") {
		t.Errorf("%q, %v", out.Prompt, err)
	}
}

// A skill that an editor saved as UTF-16 is read.
func TestASkillInUTF16IsRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	wide := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune("---\nname: wide\ndescription: Größe\n---\nDo it.\n")) {
		wide = binary.LittleEndian.AppendUint16(wide, u)
	}
	write(t, string(wide), w.places.Project, ".jcode/skills/wide/SKILL.md")
	r := w.registry()
	sk, ok := r.Get("wide")
	if !ok || sk.Description != "Größe" {
		t.Fatalf("%+v %v", sk, r.Entries())
	}
	if l, err := r.Load("wide"); err != nil || strings.TrimSpace(l.Body) != "Do it." {
		t.Errorf("%q, %v", l.Body, err)
	}
}
