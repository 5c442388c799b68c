package cli

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"jcode/cli/config"
	"jcode/skills"
	"jcode/tui"
)

var updateDocs = flag.Bool("update-docs", false, "write the generated parts of docs/")

// block is a fenced code block of a page, with the words that follow its backquotes.
type block struct {
	page, info, text string
	line             int
}

var fence = regexp.MustCompile("(?ms)^```([^\n]*)\n(.*?)^```$")

// blocks returns the code blocks of all pages.
func blocks(t *testing.T) []block {
	t.Helper()
	pages, err := filepath.Glob("../docs/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("no pages: %v", err)
	}
	pages = append(pages, "../README.md")
	var out []block
	for _, page := range pages {
		data, err := os.ReadFile(page)
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range fence.FindAllSubmatchIndex(data, -1) {
			out = append(out, block{
				page: page, info: strings.TrimSpace(string(data[m[2]:m[3]])), text: string(data[m[4]:m[5]]),
				line: 1 + strings.Count(string(data[:m[0]]), "\n"),
			})
		}
	}
	return out
}

func TestSettingsInTheDocsAreRight(t *testing.T) {
	found := 0
	for _, b := range blocks(t) {
		if b.info != "jsonc config" {
			continue
		}
		found++
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte(b.text), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, p := range config.Load(config.Options{Paths: config.Paths{Config: dir}}).Problems {
			t.Errorf("%s:%d: %s", b.page, b.line+p.Line, p)
		}
	}
	if found == 0 {
		t.Error("there are none")
	}
}

func TestSkillsAndCommandsInTheDocsAreRight(t *testing.T) {
	name := regexp.MustCompile(`(?m)^name: (\S+)$`)
	for _, b := range blocks(t) {
		dir := t.TempDir()
		var found []skills.Diagnostic
		switch b.info {
		case "markdown SKILL.md":
			folder := filepath.Join(dir, name.FindStringSubmatch(b.text)[1])
			write(t, filepath.Join(folder, "SKILL.md"), b.text)
			found = skills.Read(folder).Diagnostics
		case "markdown command":
			write(t, filepath.Join(dir, "commands", "x.md"), b.text)
			found = skills.NewCommandFiles(skills.Places{Config: dir}, nil, nil).Diagnostics()
		}
		for _, d := range found {
			t.Errorf("%s:%d: %s", b.page, b.line+d.Line, d)
		}
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// The values of screen settings are defined in two packages, which must agree.
func TestSettingsOfTheScreenAreWhatTheScreenKnows(t *testing.T) {
	t.Parallel()
	same := func(what string, got, want []string) {
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s may be %v, the screen knows %v", what, got, want)
		}
	}
	same("status_line", config.StatusParts(), tui.StatusParts())
}

func TestReferenceOfSettingsIsThatOfTheTypes(t *testing.T) {
	const page = "../docs/configuration.md"
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "see cli/docs_test.go -->\n", "<!-- end of reference -->"
	head, rest, ok := strings.Cut(string(data), begin)
	_, tail, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s lacks its marks", page)
	}
	want := head + begin + config.Reference() + end + tail
	if want == string(data) {
		return
	}
	if !*updateDocs {
		t.Fatalf("%s is old: run go test ./cli -run Reference -update-docs", page)
	}
	if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}
