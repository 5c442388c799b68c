package instructions_test

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"jcode/skills/instructions"
)

// The files of other agents are read as those who wrote them expect: the folder's second place, a person's own file that
// the repository does not have, and rules.
func TestFilesThatOtherAgentsReadAreRead(t *testing.T) {
	t.Parallel()
	root := tempDir(t)
	write(t, "root agents", root, "AGENTS.md")
	write(t, "root claude", root, "CLAUDE.md")
	write(t, "hidden claude, see @more.md", root, ".claude/CLAUDE.md")
	write(t, "imported beside it", root, ".claude/more.md")
	write(t, "my own here", root, "CLAUDE.local.md")
	write(t, "rule for all", root, ".claude/rules/a.md")
	write(t, "---\npaths:\n  - \"src/**/*.ts\"\n  - lib/*.ts\n---\nrule for ts", root, ".claude/rules/front/ts.md")
	write(t, "---\npaths: **/*.{go,mod}, docs/**\n---\nrule for go", root, ".claude/rules/go.md")
	write(t, "no rule", root, ".claude/rules/a.txt")
	write(t, "x", root, "src/deep/x.ts")
	write(t, "x", root, "src/deep/x.css")
	write(t, "x", root, "go.mod")
	s := instructions.New(instructions.Options{Root: root, Cwd: root})
	text := s.Prompt()
	inOrder(t, text, "root agents", "root claude", "hidden claude", "imported beside it", "my own here", "rule for all")
	for _, no := range []string{"rule for ts", "rule for go", "no rule"} {
		if strings.Contains(text, no) {
			t.Errorf("%q is given", no)
		}
	}
	if news, ok := s.Touch(filepath.Join(root, "src/deep/x.css")); ok {
		t.Errorf("a file that no rule is about: %q", news.Text)
	}
	news, ok := s.Touch(filepath.Join(root, "src/deep/x.ts"))
	if !ok || !strings.Contains(news.Text, "rule for ts") || strings.Contains(news.Text, "paths:") || !strings.Contains(news.Text, "(for files that match src/**/*.ts, lib/*.ts)") {
		t.Errorf("%q", news.Text)
	}
	if _, ok := s.Touch(filepath.Join(root, "src/deep/x.ts")); ok {
		t.Error("a rule is sent twice")
	}
	if news, ok := s.Touch(filepath.Join(root, "go.mod")); !ok || !strings.HasSuffix(news.Text, "rule for go") {
		t.Errorf("%q", news.Text)
	}
	if c := changes(s); c != "" {
		t.Errorf("nothing has changed: %q", c)
	}
	inOrder(t, s.Prompt(), "rule for all", "rule for ts", "rule for go") // after a compaction
	write(t, "---\npaths: src/**\n---\nanother rule for ts", root, ".claude/rules/front/ts.md")
	if c := changes(s); !strings.Contains(c, "another rule for ts") || strings.Contains(c, "rule for go") {
		t.Errorf("%q", c)
	}
	write(t, "rule that is new", root, ".claude/rules/new.md")
	if c := changes(s); !strings.HasSuffix(c, "rule that is new") {
		t.Errorf("%q", c)
	}
	if n := s.Notices(); len(n) > 0 {
		t.Errorf("notices %q", n)
	}
}

// A folder of rules that leads out of the project is not read, and is said.
func TestRulesThatLeadOutOfTheProjectAreNotRead(t *testing.T) {
	t.Parallel()
	dir := tempDir(t)
	root := filepath.Join(dir, "p")
	write(t, "private", dir, "away/a.md")
	write(t, "agents", root, "AGENTS.md")
	if err := os.MkdirAll(filepath.Join(root, ".claude"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(dir, "away"), filepath.Join(root, ".claude", "rules")); err != nil {
		t.Skip(err)
	}
	s := instructions.New(instructions.Options{Root: root, Cwd: root})
	if text := s.Prompt(); strings.Contains(text, "private") {
		t.Errorf("%q", text)
	}
	if n := strings.Join(s.Notices(), " "); !strings.Contains(n, "leads out of the project") {
		t.Errorf("notices %q", n)
	}
}

// A name with blanks is written in quotes, or with backslashes.
func TestFilesWithBlanksAreImported(t *testing.T) {
	t.Parallel()
	root := tempDir(t)
	write(t, "See @\"my notes/a b.md\" and @my\\ notes/c\\ d.md, not `@\"e f.md\"`. Say @\"hello\".", root, "AGENTS.md")
	write(t, "in quotes", root, "my notes/a b.md")
	write(t, "with backslashes", root, "my notes/c d.md")
	write(t, "in code", root, "e f.md")
	s := instructions.New(instructions.Options{Root: root, Cwd: root})
	text := s.Prompt()
	inOrder(t, text, "in quotes", "with backslashes")
	if strings.Contains(text, "in code") || len(s.Notices()) > 0 {
		t.Errorf("%q %q", text, s.Notices())
	}
}

// UTF-16 and Latin-1 are read, and said.
func TestInstructionsInOtherEncodingsAreRead(t *testing.T) {
	t.Parallel()
	root := tempDir(t)
	wide := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune("Größe zählt, immer.")) {
		wide = binary.LittleEndian.AppendUint16(wide, u)
	}
	write(t, string(wide), root, "AGENTS.md")
	write(t, "Le d\xe9ploiement se fait \xe0 midi. Les cl\xe9s sont d\xe9pos\xe9es pr\xe8s de l'entr\xe9e.", root, "CLAUDE.md")
	s := instructions.New(instructions.Options{Root: root, Cwd: root})
	inOrder(t, s.Prompt(), "Größe zählt, immer.", "Le déploiement se fait à midi.")
	if n := strings.Join(s.Notices(), "\n"); !strings.Contains(n, "AGENTS.md is read as UTF-16 LE") || !strings.Contains(n, "CLAUDE.md is read as ") {
		t.Errorf("%q", n)
	}
}
