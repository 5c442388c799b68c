package cli

import (
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"jcode/cli/config"
	"jcode/skills"
)

var updateDocs = flag.Bool("update-docs", false, "write the generated parts of docs/")

// block is a fenced code block of a page, with the words after its backquotes.
type block struct {
	page, info, text string
	line             int
}

var fence = regexp.MustCompile("(?ms)^```([^\n]*)\n(.*?)^```$")

// blocks gives the code blocks of all pages.
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

// Every line `jcode …` of a shell block is one that the command line takes.
func TestCommandLinesInTheDocsAreRight(t *testing.T) {
	for _, b := range blocks(t) {
		if b.info != "sh" {
			continue
		}
		for i, line := range strings.Split(b.text, "\n") {
			line, _, _ = strings.Cut(line, " # ")
			words := shellWords(line)
			if len(words) == 0 || words[0] != "jcode" {
				continue
			}
			var f flags
			parser, err := kong.New(&f, kong.Name("jcode"), kong.Writers(io.Discard, io.Discard), kong.Exit(func(int) {}))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := parser.Parse(prepare(words[1:])); err != nil {
				t.Errorf("%s:%d: %s: %v", b.page, b.line+1+i, line, err)
			}
		}
	}
}

// shellWords parts a line at blanks outside quotes, up to a pipe or redirection.
func shellWords(line string) []string {
	var words []string
	for _, m := range regexp.MustCompile(`'[^']*'|"[^"]*"|\S+`).FindAllString(line, -1) {
		if strings.ContainsAny(m[:1], "|<>;&") {
			break
		}
		words = append(words, strings.Trim(m, `'"`))
	}
	return words
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
