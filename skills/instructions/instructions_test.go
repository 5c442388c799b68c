package instructions_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"jcode/skills/instructions"
)

func write(t *testing.T, text string, path ...string) string {
	t.Helper()
	file := filepath.Join(path...)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

func changes(s *instructions.Set) string {
	news, ok := s.Changes()
	if ok != (news.Text != "") || ok != (news.Short != "") {
		return "ok does not fit the text"
	}
	return news.Text
}

func tempDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// inOrder fails the test unless text contains each part once, in this order.
func inOrder(t *testing.T, text string, parts ...string) {
	t.Helper()
	at := -1
	for _, p := range parts {
		i := strings.Index(text, p)
		if i <= at || strings.Count(text, p) != 1 {
			t.Errorf("%q is missing, twice there or out of order in:\n%s", p, text)
		}
		at = i
	}
}

func TestFilesFromGlobalToWorkingFolder(t *testing.T) {
	t.Parallel()
	dir := tempDir(t)
	root := filepath.Join(dir, "p")
	write(t, "global rules", dir, "config/AGENTS.md")
	write(t, "not global", dir, "config/CLAUDE.md")
	write(t, "root agents", root, "AGENTS.md")
	write(t, "root claude", root, "CLAUDE.md")
	write(t, "deep agents", root, "a/b/AGENTS.md")
	write(t, "side agents", root, "other/AGENTS.md")
	write(t, "above", dir, "AGENTS.md")
	s := instructions.New(instructions.Options{Config: filepath.Join(dir, "config"), Root: root, Cwd: filepath.Join(root, "a/b")})
	text := s.Prompt()
	inOrder(t, text, "global rules", "root agents", "root claude", "(for a/b)", "deep agents")
	for _, no := range []string{"side agents", "above", "not global"} {
		if strings.Contains(text, no) {
			t.Errorf("%q is given", no)
		}
	}
	if again := s.Prompt(); again != text {
		t.Error("the bytes differ from time to time")
	}
}

func TestEachFileIsGivenOnce(t *testing.T) {
	t.Parallel()
	dir := tempDir(t)
	write(t, "the rules, see @docs/more.md and @./docs/../docs/more.md and @AGENTS.md", dir, "AGENTS.md")
	write(t, "more rules, back to @../AGENTS.md", dir, "docs/more.md")
	if err := os.Symlink("AGENTS.md", filepath.Join(dir, "CLAUDE.md")); err != nil {
		t.Skipf("cannot make links: %v", err)
	}
	write(t, "the copy", dir, "sub/AGENTS.md")
	write(t, "the copy", dir, "sub/CLAUDE.md")
	// Home, configuration and working folder are the same.
	s := instructions.New(instructions.Options{Config: dir, Home: dir, Root: dir, Cwd: filepath.Join(dir, "sub")})
	inOrder(t, s.Prompt(), "the rules, see", "more rules, back", "the copy")
}

func TestSubfolderIsGivenOnceAtItsFirstTouch(t *testing.T) {
	t.Parallel()
	dir := tempDir(t)
	write(t, "root", dir, "AGENTS.md")
	write(t, "upper rules", dir, "a/AGENTS.md")
	write(t, "lower rules", dir, "a/b/CLAUDE.md")
	write(t, "code", dir, "a/b/x.go")
	s := instructions.New(instructions.Options{Root: dir, Cwd: dir})
	s.Prompt()
	var mu sync.Mutex
	var texts []string
	var wg sync.WaitGroup
	for i := range 30 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			if news, ok := s.Touch(filepath.Join(dir, "a/b", fmt.Sprintf("%d.go", i))); ok {
				mu.Lock()
				texts = append(texts, news.Text)
				mu.Unlock()
				if news.Short != "instructions of a/AGENTS.md, a/b/CLAUDE.md" {
					t.Errorf("shown as %q", news.Short)
				}
			}
		}()
	}
	wg.Wait()
	if len(texts) != 1 {
		t.Fatalf("given %d times", len(texts))
	}
	inOrder(t, texts[0], "upper rules", "lower rules")
	for _, p := range []string{filepath.Join(dir, "a"), filepath.Join(dir, "x.go"), filepath.Dir(dir), filepath.Join(dir, "none/x")} {
		if news, ok := s.Touch(p); ok {
			t.Errorf("%s: got %q", p, news.Text)
		}
	}
	inOrder(t, s.Prompt(), "root", "upper rules", "lower rules") // they still apply after a compaction
}

func TestRewindGivesASubfolderAgain(t *testing.T) {
	t.Parallel()
	dir := tempDir(t)
	write(t, "root", dir, "AGENTS.md")
	write(t, "sub rules", dir, "sub/AGENTS.md")
	s := instructions.New(instructions.Options{Root: dir, Cwd: dir})
	s.Prompt()
	for range 2 {
		if news, ok := s.Touch(filepath.Join(dir, "sub", "x")); !ok || strings.Contains(news.Text, "# Instructions from AGENTS.md") {
			t.Errorf("given %q", news.Text)
		}
		s.Rewound()
	}
	if text := s.Prompt(); strings.Contains(text, "sub rules") {
		t.Errorf("still counted as touched: %s", text)
	}
}

func TestImportsInCodeAndMentionsAreNone(t *testing.T) {
	t.Parallel()
	dir := tempDir(t)
	write(t, "secret", dir, "x.md")
	write(t, "`@x.md` me@x.md\n```\n@x.md\n```\n~~~~ md\n```\n@x.md\n~~~~\n@someone, @scope/pkg and (@missing.md)", dir, "AGENTS.md")
	s := instructions.New(instructions.Options{Root: dir, Cwd: dir})
	if text := s.Prompt(); strings.Contains(text, "secret") {
		t.Errorf("imported: %s", text)
	}
	if n := s.Notices(); len(n) != 1 || !strings.Contains(n[0], "AGENTS.md:9: @missing.md does not exist") {
		t.Errorf("notices %q", n)
	}
}

func TestImportsEnd(t *testing.T) {
	t.Parallel()
	dir := tempDir(t)
	write(t, "level 0 @1.md", dir, "AGENTS.md")
	for i := 1; i < 9; i++ {
		write(t, fmt.Sprintf("level %d @%d.md", i, i+1), dir, fmt.Sprintf("%d.md", i))
	}
	s := instructions.New(instructions.Options{Root: dir, Cwd: dir})
	text := s.Prompt()
	if !strings.Contains(text, "level 5") || strings.Contains(text, "level 6") {
		t.Errorf("got %s", text)
	}
	if n := s.Notices(); len(n) != 1 || !strings.Contains(n[0], "imports deep") {
		t.Errorf("notices %q", n)
	}
}

// A repository must not get private files into the prompt.
func TestProjectFilesStayInTheProject(t *testing.T) {
	t.Parallel()
	dir := tempDir(t)
	write(t, "private key", dir, "home/.ssh/id")
	write(t, "see @~/.ssh/id and @../home/.ssh/id and @"+filepath.ToSlash(filepath.Join(dir, "home/.ssh/id")), dir, "p/AGENTS.md")
	if err := os.Symlink("../home/.ssh/id", filepath.Join(dir, "p/CLAUDE.md")); err != nil {
		t.Skipf("cannot make links: %v", err)
	}
	opts := instructions.Options{Config: filepath.Join(dir, "config"), Home: filepath.Join(dir, "home"), Root: filepath.Join(dir, "p"), Cwd: filepath.Join(dir, "p")}
	s := instructions.New(opts)
	if text := s.Prompt(); strings.Contains(text, "private key") {
		t.Errorf("leaked: %s", text)
	}
	if n := s.Notices(); len(n) != 2 {
		t.Errorf("notices %q", n)
	}
	// The person's own file may.
	write(t, "mine @~/notes.md", dir, "config/AGENTS.md")
	write(t, "my notes", dir, "home/notes.md")
	if text := instructions.New(opts).Prompt(); !strings.Contains(text, "my notes") {
		t.Errorf("got %s", text)
	}
}

func TestLongInstructionsAreCutAndSaid(t *testing.T) {
	t.Parallel()
	dir := tempDir(t)
	write(t, strings.Repeat("日本語の規則\n", 3000), dir, "AGENTS.md")
	write(t, "after it", dir, "sub/AGENTS.md")
	s := instructions.New(instructions.Options{Root: dir, Cwd: filepath.Join(dir, "sub")})
	text := s.Prompt()
	if len(text) > 32<<10 || !strings.Contains(text, "cut here at line") || strings.Contains(text, "\uFFFD") {
		t.Errorf("%d bytes, ends %q", len(text), text[max(0, len(text)-100):])
	}
	if n := s.Notices(); len(n) != 2 || !strings.Contains(n[0], "AGENTS.md is cut at line") || !strings.Contains(n[1], "sub/AGENTS.md is left out") {
		t.Errorf("notices %q", n)
	}
}

func TestChangesAreNoticed(t *testing.T) {
	t.Parallel()
	dir := tempDir(t)
	file := write(t, "old", dir, "AGENTS.md")
	s := instructions.New(instructions.Options{Root: dir, Cwd: dir})
	if changes(s) != "" {
		t.Error("a change before the first prompt")
	}
	s.Prompt()
	if c := changes(s); c != "" {
		t.Errorf("nothing changed: %q", c)
	}
	write(t, "new rules @x.md", file)
	write(t, "imported now", dir, "x.md")
	inOrder(t, changes(s), "replace what stood", "new rules", "imported now")
	write(t, "came later", dir, "CLAUDE.md")
	if c := changes(s); !strings.Contains(c, "came later") || strings.Contains(c, "new rules") {
		t.Errorf("got %q", c)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if c := changes(s); c != "These instructions were removed and no longer apply: AGENTS.md." {
		t.Errorf("got %q", c)
	}
	if c := changes(s); c != "" {
		t.Errorf("said again: %q", c)
	}
}

func TestOddFilesAreHarmless(t *testing.T) {
	t.Parallel()
	dir := tempDir(t)
	if err := os.MkdirAll(filepath.Join(dir, "AGENTS.md"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, "\x00\x01binary", dir, "CLAUDE.md")
	write(t, "\ufeffwith BOM\r\nand \x1b[31mcolour\xff", dir, "sub/AGENTS.md")
	s := instructions.New(instructions.Options{Root: dir, Cwd: filepath.Join(dir, "sub")})
	if text := s.Prompt(); !strings.HasSuffix(text, "with BOM\nand colour\uFFFD") {
		t.Errorf("%q", text)
	}
	if got := instructions.New(instructions.Options{}).Prompt(); got != "" {
		t.Errorf("out of nothing: %q", got)
	}
	if f := s.Files(); !slices.Equal(f, []string{filepath.Join(dir, "sub/AGENTS.md")}) {
		t.Errorf("files %v", f)
	}
}

func TestInitCommand(t *testing.T) {
	t.Parallel()
	out, err := instructions.Init().Run(context.Background(), " $ARGUMENTS ")
	if err != nil || !strings.HasSuffix(out.Prompt, "The user adds: $ARGUMENTS") || out.Shown != "/init $ARGUMENTS" {
		t.Errorf("%+v %v", out, err)
	}
}

// The file of Claude Code that holds everywhere is read as the person's own, once, and after a change again.
func TestTheOwnFileOfClaudeCodeIsReadEverywhere(t *testing.T) {
	t.Parallel()
	dir := tempDir(t)
	root, home, config := filepath.Join(dir, "p"), filepath.Join(dir, "home"), filepath.Join(dir, "config")
	write(t, "of the project", root, "AGENTS.md")
	write(t, "of jcode", config, "AGENTS.md")
	file := write(t, "of claude, and @~/notes.md", home, ".claude", "CLAUDE.md")
	write(t, "in the notes", home, "notes.md")
	s := instructions.New(instructions.Options{Config: config, Home: home, Root: root, Cwd: root})
	inOrder(t, s.Prompt(), "of jcode", "of claude", "in the notes", "of the project")
	if got := changes(s); got != "" {
		t.Errorf("nothing changed: %q", got)
	}
	write(t, "of claude, changed and longer", home, ".claude", "CLAUDE.md")
	if got := changes(s); !strings.Contains(got, "changed and longer") {
		t.Errorf("%s changed: %q", file, got)
	}
	// Where the home folder is the project, it is still one file.
	s = instructions.New(instructions.Options{Config: config, Home: home, Root: home, Cwd: home})
	inOrder(t, s.Prompt(), "changed and longer")
}
