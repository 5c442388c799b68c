package docs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// maxWords is how long a sentence may be. A code span counts as one word, a link as its text.
const maxWords = 35

// plainWords are words and phrases that a reader has to translate, each with what to write instead.
var plainWords = []struct{ pattern, instead string }{
	{`holds? (too|as well|also|for|over|in|everywhere|only|until|back|against|with)`, "apply, last, remain valid"},
	{`(rules?|settings?|flags?|limits?|prices?|denials?|hooks|grants?|answers?|approvals?|yes|keys?|tokens?) holds?|holds?[.,;:]`, "apply, last, remain valid"},
	{`bring(s|ing)?|brought`, "contain, include, come with; bring back: restore; bring in: add"},
	{`mend(s|ed|ing)?`, "fix, repair"},
	{`vouch(es|ed|ing)?`, "guarantee, is known to"},
	{`judg(e|es|ed|ing)`, "check, decide, rate"},
	{`(is|are|was|were) said`, "is reported, is shown; name who says it"},
	{`told (as|of|apart)`, "reported as, informed about, distinguished"},
	{`(a|the|any|no|another|every) person`, "you, somebody, the user"},
	{`persons?'s?`, "your, the user's"},
	{`unasked`, "without asking"},
	{`the word of`, "what … says"},
	{`in vain`, "without effect"},
	{`takes? no`, "does not accept, does not support"},
	{`whoever`, "anyone who, the one who"},
	{`beside it|beside each other|beside the|beside that|beside what|beside them|beside a`, "next to, along with, at the same time, in addition to"},
	{`at will`, "as you like"},
	{`a word on`, "a setting for"},
	{`without a word`, "silently, without a message"},
	{`go(es)? on with`, "continue"},
	{`workspaces?`, "project"},
}

// openings are beginnings of sentences in another language's order of words.
var openings = []struct{ pattern, instead string }{
	{`(Protected|Trusted|Confined|Refused|Denied|Allowed|Kept|Stored|Shown|Named|Listed|Read|Sent|Counted|Excluded|Included|Hidden|Missing|Meant|Checked) (is|are|was|were)\b`, "put the subject first: \"… are protected\", or use a list"},
	{`Of .{3,60}, (only|no|none|nothing|all|each)\b`, "put the subject first"},
	{`Nothing of\b`, "no part of, none of"},
	{`Nobody but\b`, "only"},
}

// fault is a compiled pattern, with what to write instead.
type fault struct {
	pattern *regexp.Regexp
	instead string
}

// faultyWords and faultyOpenings are both lists, compiled once.
var faultyWords, faultyOpenings = compile(plainWords, `(?i)\b(?:`, `)(?:\b|\W|$)`), compile(openings, `^(?:`, `)`)

func compile(list []struct{ pattern, instead string }, before, after string) (out []fault) {
	for _, w := range list {
		out = append(out, fault{regexp.MustCompile(before + w.pattern + after), w.instead})
	}
	return out
}

// pages are the texts that people read about the program.
func pages(t *testing.T) map[string]string {
	t.Helper()
	names, err := filepath.Glob("*.md")
	if err != nil || len(names) < 20 {
		t.Fatalf("no pages: %q, %v", names, err)
	}
	out := map[string]string{}
	for _, name := range append(names, "../README.md", "../CONTRIBUTING.md", "../SECURITY.md", "../ARCHITECTURE.md", "../CHANGELOG.md", "../CODE_OF_CONDUCT.md") {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		out[name] = string(data)
	}
	return out
}

// passage is a text of its own: a paragraph, a heading, a list item or a cell of a table.
type passage struct {
	line    int
	text    string
	heading bool
}

var (
	codeSpan    = regexp.MustCompile("``[^\n]*?``|`[^`]*`")
	htmlComment = regexp.MustCompile(`<!--.*?-->`)
	linked      = regexp.MustCompile(`!?\[([^\]]*)\]\([^)]*\)`)
	item        = regexp.MustCompile(`^\s*([-*]|\d+\.)\s+`)
	clause      = regexp.MustCompile(`(?i)^(what|which|who) `)
	ruler       = regexp.MustCompile(`^\|[ :|-]+\|$`)
	wordChar    = regexp.MustCompile(`[\p{L}\p{N}]`)
	sentenceEnd = regexp.MustCompile("([.!?][)\"*”]*)\\s+([A-Z`*\\[(\"“]|jcode )")
)

// passages divides a page. Examples in fences are left out.
func passages(page string) (out []passage) {
	var lines []string
	first, fenced := 0, false
	flush := func() {
		if len(lines) > 0 {
			out = append(out, passage{first, prose(strings.Join(lines, " ")), strings.HasPrefix(lines[0], "#")})
		}
		lines = nil
	}
	for i, line := range strings.Split(page, "\n") {
		trimmed := strings.TrimSpace(line)
		if strings.HasPrefix(trimmed, "```") {
			flush()
			fenced = !fenced
			continue
		}
		switch {
		case fenced:
			continue
		case strings.HasPrefix(trimmed, "|"):
			flush()
			for _, cell := range cells(trimmed) {
				out = append(out, passage{i + 1, prose(cell), false})
			}
			continue
		case trimmed == "" || strings.HasPrefix(trimmed, "#") || item.MatchString(line):
			flush()
		}
		if trimmed == "" {
			continue
		}
		if len(lines) == 0 {
			first = i + 1
		}
		lines = append(lines, strings.TrimSpace(item.ReplaceAllString(line, "")))
		if strings.HasPrefix(trimmed, "#") {
			flush()
		}
	}
	flush()
	return out
}

// cells returns the cells of a table's row. A bar in a code span divides none.
func cells(row string) []string {
	row = codeSpan.ReplaceAllStringFunc(row, func(s string) string { return strings.ReplaceAll(s, "|", "¦") })
	row = strings.ReplaceAll(row, `\|`, "¦")
	list := strings.Split(strings.TrimSuffix(strings.TrimPrefix(row, "|"), "|"), "|")
	for i, cell := range list {
		list[i] = strings.TrimSpace(cell)
	}
	return list
}

// prose returns a text with a letter in place of each code span, and the texts of links.
func prose(s string) string {
	s = htmlComment.ReplaceAllString(codeSpan.ReplaceAllString(s, "X"), "")
	return linked.ReplaceAllString(s, "$1")
}

// sentences divides a text at its ends of sentences.
func sentences(s string) []string {
	return strings.Split(sentenceEnd.ReplaceAllString(s, "$1\x00$2"), "\x00")
}

// faults returns what makes a page hard to read, each with its line.
func faults(page string) (out []string) {
	say := func(line int, format string, args ...any) {
		out = append(out, fmt.Sprintf("%d: ", line)+fmt.Sprintf(format, args...))
	}
	for _, p := range passages(page) {
		for _, s := range sentences(p.text) {
			n := 0
			for _, w := range strings.Fields(s) {
				if wordChar.MatchString(w) {
					n++
				}
			}
			if n > maxWords {
				say(p.line, "a sentence has %d words, at most %d are allowed: %s", n, maxWords, s)
			}
			for _, o := range faultyOpenings {
				if found := o.pattern.FindString(s); found != "" {
					say(p.line, "%q begins a sentence: %s", found, o.instead)
				}
			}
		}
		for _, w := range faultyWords {
			for _, found := range w.pattern.FindAllString(p.text, -1) {
				say(p.line, "%q: write %s: %s", found, w.instead, p.text)
			}
		}
		if title := strings.TrimLeft(p.text, "# "); p.heading && clause.MatchString(title) && !strings.HasSuffix(title, "?") {
			say(p.line, "the heading %q does not say what it is about in words that somebody would search for", title)
		}
	}
	rows := strings.Split(page, "\n")
	for i := 1; i < len(rows); i++ {
		if !ruler.MatchString(strings.TrimSpace(rows[i])) || !strings.HasPrefix(rows[i-1], "|") {
			continue
		}
		for _, cell := range cells(strings.TrimSpace(rows[i-1])) {
			if cell == "" {
				say(i, "a column of a table has no name: %s", rows[i-1])
			}
		}
	}
	return out
}

func TestPagesAreEasyToRead(t *testing.T) {
	t.Parallel()
	for name, page := range pages(t) {
		for _, f := range faults(page) {
			t.Errorf("docs/%s:%s", name, f)
		}
	}
}

// The manual's own table of contents names every page.
func TestEveryPageIsInTheTableOfContents(t *testing.T) {
	t.Parallel()
	all := pages(t)
	for name := range all {
		if name != "README.md" && !strings.HasPrefix(name, "../") && !strings.Contains(all["README.md"], "]("+name) {
			t.Errorf("docs/README.md does not list %s", name)
		}
	}
}

func TestWhatIsHardToReadIsFound(t *testing.T) {
	t.Parallel()
	long := "Word " + strings.Repeat("word ", 35) + "end."
	for page, want := range map[string]string{
		long:                   "37 words",
		"Short one. " + long:   "37 words",
		"- an item\n- " + long: "2: a sentence has 37 words",
		"| a | b |\n| --- | --- |\n| x | " + long + " |": "3: a sentence has 37 words",
		"| a | |\n| --- | --- |\n| x | y |":              "1: a column of a table has no name",
		"The flags hold too.":                            "apply",
		"Protected are all files.":                       "subject first",
		"## What is kept":                                "search for",
		"A plugin\nbrings hooks.":                        "contain",
	} {
		if got := faults(page); len(got) == 0 || !strings.Contains(strings.Join(got, "\n"), want) {
			t.Errorf("%q: %q", page, got)
		}
	}
	for _, page := range []string{
		"`" + long + "` is one word.",
		"[a link](https://example.org/" + strings.Repeat("a b ", 40) + ") counts as its text.",
		strings.Repeat("A sentence of five words. ", 20),
		"```sh\n" + long + "\n```",
		"| a | b |\n| --- | --- |\n| `x|y` | z |",
		"## What is kept?",
		"It holds the lock, and says so.",
	} {
		if got := faults(page); len(got) != 0 {
			t.Errorf("%q: %q", page, got)
		}
	}
}

var (
	anchored = regexp.MustCompile(`\]\(([^)\s#:]*)#([^)\s]+)\)`)
	symbols  = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// anchors returns the anchors of a page's headings, as GitHub makes them.
func anchors(page string) map[string]bool {
	out := map[string]bool{}
	fenced := false
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		if title := strings.TrimLeft(line, "#"); !fenced && title != line && strings.HasPrefix(title, " ") {
			title = linked.ReplaceAllString(strings.TrimSpace(title), "$1")
			out[strings.ReplaceAll(symbols.ReplaceAllString(strings.ToLower(title), ""), " ", "-")] = true
		}
	}
	return out
}

// deadAnchors returns the links of a page to headings that there are not.
func deadAnchors(name, text string, all map[string]string) (out []string) {
	for _, m := range anchored.FindAllStringSubmatch(text, -1) {
		target := name
		if m[1] != "" {
			// Pages are named relative to docs/.
			target = filepath.ToSlash(filepath.Join(filepath.Dir(name), m[1]))
			target = strings.TrimPrefix(target, "../docs/")
		}
		if page, ok := all[target]; ok && !anchors(page)[m[2]] {
			out = append(out, m[0])
		}
	}
	return out
}

func TestLinksToHeadingsFindThem(t *testing.T) {
	t.Parallel()
	all := pages(t)
	for name, text := range all {
		for _, link := range deadAnchors(name, text, all) {
			t.Errorf("docs/%s: a link leads to no heading: %s", name, link)
		}
	}
	example := map[string]string{"a.md": "# A `b` page\n[b](#a-b-page) [c](../docs/c.md#no) [d](c.md#yes)", "c.md": "## Yes\n"}
	if got := deadAnchors("a.md", example["a.md"], example); len(got) != 1 || !strings.Contains(got[0], "#no") {
		t.Errorf("%q", got)
	}
}
