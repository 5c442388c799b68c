package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A message of the program is read by as many as a page of the manual: the same words make both hard to read.

// unseen are folders whose strings nobody reads who only uses jcode.
var unseen = strings.Fields("bench docs internal/testkit packaging scripts testdata")

// texts are files of the program that are shown or sent to a model as they are.
var texts = regexp.MustCompile(`\.(md|txt|html)$`)

// statement is the beginning of a statement of SQL or Lua, or of a regular expression.
var statement = regexp.MustCompile(`^\s*(?i:SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|PRAGMA|WITH|DROP|local|function)\b|^\(\?|^\^`)

// verb is a placeholder of fmt, in front of a letter or not.
var verb = regexp.MustCompile(`%[-+# 0]*[\d*]*(\.[\d*]+)?(\[\d+\])?[a-zA-Z]`)

// told is a text of the program with the place where it stands.
type told struct {
	file string
	line int
	text string
}

// literals returns the strings of a Go file that are sentences or parts of sentences. Strings that are added up are one.
func literals(t *testing.T, path string, source any) (out []told) {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var visit func(ast.Node) bool
	visit = func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field:
			if n.Tag != nil {
				out = append(out, tagTexts(files.Position(n.Tag.Pos()).Line, n.Tag.Value)...)
			}
			ast.Inspect(n.Type, visit)
			return false
		case *ast.BinaryExpr:
			if text, ok := added(n); ok {
				out = append(out, told{line: files.Position(n.Pos()).Line, text: text})
				return false
			}
		case *ast.BasicLit:
			if text, ok := added(n); ok {
				out = append(out, told{line: files.Position(n.Pos()).Line, text: text})
			}
		}
		return true
	}
	ast.Inspect(file, visit)
	out = slices.DeleteFunc(out, func(s told) bool {
		return !strings.Contains(strings.TrimSpace(s.text), " ") || statement.MatchString(s.text)
	})
	for i := range out {
		out[i].file = path
	}
	return out
}

// added returns the text of a string, or of strings that are added up, with X for what is not known before it runs.
func added(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind != token.STRING {
			return "", false
		}
		text, err := strconv.Unquote(e.Value)
		return text, err == nil
	case *ast.BinaryExpr:
		if e.Op != token.ADD {
			return "", false
		}
		left, isLeft := added(e.X)
		right, isRight := added(e.Y)
		if !isLeft && !isRight {
			return "", false
		}
		if !isLeft {
			left = "X"
		}
		if !isRight {
			right = "X"
		}
		return left + right, true
	}
	return "", false
}

// tagTexts returns the values of a struct tag that are read: help and descriptions.
func tagTexts(line int, tag string) (out []told) {
	raw, err := strconv.Unquote(tag)
	if err != nil {
		return nil
	}
	for raw != "" {
		raw = strings.TrimLeft(raw, " ")
		_, rest, ok := strings.Cut(raw, ":")
		if !ok {
			break
		}
		value, err := strconv.QuotedPrefix(rest)
		if err != nil {
			break
		}
		if text, err := strconv.Unquote(value); err == nil {
			out = append(out, told{line: line, text: text})
		}
		raw = rest[len(value):]
	}
	return out
}

// spoken returns every text that the program shows, sends or writes.
func spoken(t *testing.T) (out []told) {
	t.Helper()
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := filepath.ToSlash(strings.TrimPrefix(path, ".."+string(filepath.Separator)))
		if d.IsDir() {
			if path != ".." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "dist" || slices.Contains(unseen, name) || d.Name() == "testdata") {
				return fs.SkipDir
			}
			return nil
		}
		switch {
		case !strings.Contains(name, "/") || strings.HasSuffix(name, "_test.go"):
		case strings.HasSuffix(name, ".go"):
			out = append(out, literals(t, path, nil)...)
		case texts.MatchString(name):
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			out = append(out, told{file: path, line: 1, text: string(data)})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(out) < 5000 {
		t.Fatalf("only %d texts", len(out))
	}
	return out
}

// quoted is a word in quotes, which is code as in backticks.
var quoted = regexp.MustCompile(`"[^"\s]*"`)

// notProse is in a text that is code, markup or a list of words.
var notProse = regexp.MustCompile(`[{}<>$=\[\]]|\(SELECT|\*\*\*`)

// grievances returns what makes a text of the program hard to read.
func grievances(s told) (out []string) {
	descriptions := []string{s.text}
	if strings.HasPrefix(s.text, `{"`) {
		descriptions = nil
		for _, m := range described.FindAllStringSubmatch(s.text, -1) {
			descriptions = append(descriptions, m[1])
		}
	}
	for _, text := range descriptions {
		text = quoted.ReplaceAllString(verb.ReplaceAllString(text, "X"), "X")
		for _, f := range faults(text) {
			_, sentence, isLong := strings.Cut(f, "are allowed: ")
			switch {
			case strings.Contains(f, ": the heading "): // of a text that nobody searches for
			case isLong && (notProse.MatchString(sentence) || !strings.ContainsAny(sentence, ",:;.") || strings.Contains(s.file, "help.txt")):
			default:
				out = append(out, f)
			}
		}
	}
	return out
}

// described is the description of a parameter in a schema.
var described = regexp.MustCompile(`"description":"((?:[^"\\]|\\.)*)"`)

func TestMessagesAreEasyToRead(t *testing.T) {
	t.Parallel()
	for _, s := range spoken(t) {
		for _, g := range grievances(s) {
			t.Errorf("%s:%d: %s", s.file, s.line, g)
		}
	}
}

func TestMessagesThatAreHardToReadAreFound(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word ", 36)
	source := "package p\n\nimport \"a b holds for\"\n\n" +
		"type form struct {\n\tA string `name:\"a\" help:\"What may run unasked.\"`\n}\n\n" +
		"var schema = `{\"description\":\"mends a file\",\"x\":\"in vain\"}`\n\n" +
		"var sum = \"the answer \" + name + \" hol\" + \"ds for one session\"\n\n" +
		"var long = \"one, " + long + "\"\n\n" +
		"var list = \"" + long + "\"\n\n" +
		"var query = `SELECT a FROM b WHERE holds for`\n\n" +
		"var code = `must be \"workspace\" here`\n\n" +
		"var name = \"unasked\"\n"
	var got []string
	for _, s := range literals(t, "p.go", source) {
		for _, g := range grievances(s) {
			got = append(got, strconv.Itoa(s.line)+": "+g)
		}
	}
	want := []string{"6: 1: \"unasked\"", "9: 1: \"mends\"", "11: 1: \"holds for\"", "13: 1: a sentence has 37 words"}
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || !strings.HasPrefix(got[i], want[i]) {
			t.Fatalf("found %q, want %q", got, want)
		}
	}
}
