package skills_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"jcode/skills"
	"jcode/tools"
	"jcode/tools/command"
)

// trustAll approves every version of every file.
type trustAll struct{}

func (trustAll) Trusted(context.Context, tools.TrustItem) (bool, error) { return true, nil }
func (trustAll) Unconfined(context.Context, tools.TrustItem) bool       { return false }
func (trustAll) Accept(context.Context, []tools.TrustItem, bool) error  { return nil }

// A project's skills and commands are read only within the project: what leads out of it, or to
// files that the person's rules deny, counts as absent and is reported.
func TestLinksOutOfTheProjectCountAsAbsent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	private := skillMD("leaked", "canary description", "canary body")
	outside := filepath.Join(w.places.Home, "private")
	write(t, private, outside, "SKILL.md")
	write(t, "canary command", outside, "notes.md")
	denied := write(t, "canary denied", w.places.Project, "denied.env")
	w.places.Denied = func(path string) bool { return path == denied }
	w.project("fine", skillMD("fine", "Fine.", "body"))
	for link, target := range map[string]string{
		".jcode/skills/folder":        outside,
		".jcode/skills/file/SKILL.md": filepath.Join(outside, "SKILL.md"),
		".jcode/skills/env/SKILL.md":  "../../../denied.env",
		".claude/skills":              outside,
		".jcode/commands/leak.md":     filepath.Join(outside, "notes.md"),
		".jcode/commands/env.md":      "../../denied.env",
		".claude/commands":            outside,
		".jcode/commands/inside.md":   "../../inside.md",
	} {
		link = filepath.Join(w.places.Project, filepath.FromSlash(link))
		if err := os.MkdirAll(filepath.Dir(link), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, link); err != nil {
			t.Skipf("links can't be made here: %v", err)
		}
	}
	write(t, "inside the project", w.places.Project, "inside.md")
	for name, trust := range map[string]tools.Trust{"untrusted": nil, "trusted": trustAll{}} {
		t.Run(name, func(t *testing.T) {
			r := skills.New(skills.Options{Places: w.places, Trust: trust})
			files := skills.NewCommandFiles(w.places, trust, nil)
			if got := own(r.List()); len(got) != 1 || got[0] != "fine" {
				t.Errorf("skills %q", got)
			}
			if _, err := r.Load("leaked"); err == nil {
				t.Error("the skill can be loaded")
			}
			if got := files.List(); len(got) != 1 || got[0].Name != "inside" || !strings.Contains(got[0].Description, "inside the project") {
				t.Errorf("commands %+v", got)
			}
			said := diagnostics(r)
			for _, d := range files.Diagnostics() {
				said += d.String() + "\n"
			}
			for _, want := range []string{"skills/folder: ", "skills/file/SKILL.md: ", "skills/env/SKILL.md: ", ".claude/skills: ", "commands/leak.md: ", "commands/env.md: ", ".claude/commands: "} {
				if !strings.Contains(filepath.ToSlash(said), want+"error: leads out of the project") {
					t.Errorf("%s is not reported in\n%s", want, said)
				}
			}
			if strings.Contains(said, "canary") {
				t.Errorf("the text shows: %s", said)
			}
		})
	}
}

// If a skill is replaced by a link out of the project, its text is not read through the link.
func TestSkillThatBecameALinkOutIsNotLoaded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	file := w.project("one", skillMD("one", "One.", "body"))
	r := w.registry()
	r.List()
	secret := write(t, skillMD("one", "One.", "canary"), w.places.Home, "secret.md")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(secret, file); err != nil {
		t.Skipf("links can't be made here: %v", err)
	}
	if l, err := r.Load("one"); err == nil || strings.Contains(l.Text, "canary") {
		t.Errorf("%q, %v", l.Text, err)
	}
}

// Before trust, a project's skill or command never replaces one of the person or the program.
func TestProjectTakesNoNameBeforeTrust(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	mine := write(t, skillMD("deploy", "Mine.", "mine"), w.places.Config, "skills/deploy/SKILL.md")
	w.project("deploy", skillMD("deploy", "Theirs.", "theirs"))
	w.project("skill-writer", skillMD("skill-writer", "Theirs.", "theirs"))
	write(t, "my release", w.places.Config, "commands/release.md")
	write(t, "their release", w.places.Project, ".jcode/commands/release.md")
	write(t, "their deploy", w.places.Project, ".jcode/commands/deploy.md") // the name of a skill
	find := func(trust tools.Trust) (deploy, writer, release, slash string, r *skills.Registry) {
		r = skills.New(skills.Options{Places: w.places, Trust: trust})
		files := skills.NewCommandFiles(w.places, trust, nil)
		set := command.Set{Sources: []command.Source{files, r.Commands(nil)}}
		sk, _ := r.Get("deploy")
		wr, _ := r.Get("skill-writer")
		rel, _ := set.Find("release")
		dep, _ := set.Find("deploy")
		for _, c := range set.List() {
			if c.Name == "deploy" && c.Origin != dep.Origin {
				t.Errorf("the list shows %s, %s runs", c.Origin, dep.Origin)
			}
		}
		return sk.Description, wr.Source.Label, rel.Origin, dep.Origin, r
	}
	deploy, writer, release, slash, r := find(nil)
	if deploy != "Mine." || writer != "builtin" || release != "command (user)" || slash != "skill (user)" {
		t.Errorf("before trust: %s, %s, %s, %s", deploy, writer, release, slash)
	}
	if said := diagnostics(r); !strings.Contains(said, "has the name of "+mine+", which it does not replace before you trust it") {
		t.Errorf("it is not reported: %s", said)
	}
	waiting := 0
	for _, e := range r.Entries() {
		if e.Waits {
			waiting++
		}
	}
	if waiting != 2 {
		t.Errorf("%d skills wait", waiting)
	}
	deploy, writer, release, slash, r = find(trustAll{})
	if deploy != "Theirs." || writer != "project .jcode" || release != "command (project .jcode)" || slash != "command (project .jcode)" {
		t.Errorf("after trust: %s, %s, %s, %s", deploy, writer, release, slash)
	}
	for _, e := range r.Entries() {
		if e.Name == "deploy" && e.Source.Project && e.Replaces != mine {
			t.Errorf("%+v does not say what it replaces", e)
		}
	}
}

// A command's shell line is approved together with the files that it starts.
func TestApprovalOfACommandEndsWithTheFilesThatItStarts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	script := write(t, "echo one", w.places.Project, "s.sh")
	write(t, "Says !`sh ./s.sh`", w.places.Project, ".jcode/commands/say.md")
	kept := trust{}
	asked := &person{answer: tools.AnswerProject}
	src := skills.NewCommandFiles(w.places, kept, &host{asker: asked})
	use(t, src, "say", "")
	use(t, src, "say", "")
	if len(asked.asked) != 1 {
		t.Fatalf("asked %d times", len(asked.asked))
	}
	write(t, "echo evil", script)
	use(t, src, "say", "")
	if len(asked.asked) != 2 {
		t.Errorf("the changed script ran unasked")
	}
}

// brokenTrust fails to read what was approved.
type brokenTrust struct{ trustAll }

func (brokenTrust) Trusted(context.Context, tools.TrustItem) (bool, error) {
	return true, errors.New("the disk is gone")
}

// If the trust in a file can't be read, the diagnostic says so: the file must not look untrusted.
func TestTrustThatCannotBeReadIsSaid(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	write(t, skillMD("deploy", "Mine.", "mine"), w.places.Config, "skills/deploy/SKILL.md")
	w.project("deploy", skillMD("deploy", "Theirs.", "theirs"))
	write(t, "my release", w.places.Config, "commands/release.md")
	write(t, "their release", w.places.Project, ".jcode/commands/release.md")
	r := skills.New(skills.Options{Places: w.places, Trust: brokenTrust{}})
	if sk, _ := r.Get("deploy"); sk.Description != "Mine." {
		t.Errorf("an error of the trust lets a skill replace mine: %s", sk.Description)
	}
	if said := diagnostics(r); !strings.Contains(said, "the disk is gone") {
		t.Errorf("skills say %s", said)
	}
	files := skills.NewCommandFiles(w.places, brokenTrust{}, nil)
	said := ""
	for _, d := range files.Diagnostics() {
		said += d.String() + "\n"
	}
	if !strings.Contains(said, "the disk is gone") {
		t.Errorf("commands say %s", said)
	}
}
