package notes

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"

	"jcode/internal/text"
)

// About says which book a note is in.
type About string

// The books.
const (
	Project About = "project"
	User    About = "user"
)

// Author is who wrote a note.
type Author string

// The authors.
const (
	ByUser  Author = "user"
	ByAgent Author = "agent"
)

// Origin is where a note comes from.
type Origin struct {
	// Session is the ID of the session, "" for a note that a person wrote in its file.
	Session string
	// Message is the sequence number of the message.
	Message int64
	// Tool names another agent whose memory a draft was taken from, such as "Claude Code".
	Tool string
}

// Dependency is a file that a note was true of.
type Dependency struct {
	Path string // relative to the project's root, with slashes
	Hash string // of its content then
}

// Note is one thing that is remembered.
type Note struct {
	// ID is short, and changes with the text.
	ID    string
	About About
	Topic string
	Text  string
	Since time.Time // a day
	By    Author
	From  Origin
	// Used is the day on which it was last found by a search or read, zero for never.
	Used    time.Time
	Depends []Dependency
	// Changed lists those of Depends that have another content now, or are gone.
	Changed []string
	// File and Line say where it stands.
	File string
	Line int
	// Secret says that its text contains something that is considered a secret: it is never shown to a model.
	Secret bool
}

// Last is the day on which a note was used last, or written.
func (n Note) Last() time.Time {
	if n.Used.After(n.Since) {
		return n.Used
	}
	return n.Since
}

// Written says in words since when and where from a note is.
func (n Note) Written() string {
	who := "by the agent"
	if n.By == ByUser {
		who = "by you"
	}
	parts := []string{"since " + n.Since.Format(time.DateOnly), who}
	switch {
	case n.From.Tool != "":
		parts = append(parts, "from the memory of "+text.OneLine(n.From.Tool))
	case n.From.Session != "":
		parts = append(parts, "in session "+n.From.Session)
	}
	if !n.Used.IsZero() {
		parts = append(parts, "last used "+n.Used.Format(time.DateOnly))
	}
	return strings.Join(parts, ", ")
}

// noteID derives a note's ID from what identifies it.
func noteID(about About, topic, body string) string {
	sum := sha256.Sum256([]byte(string(about) + "\x00" + topic + "\x00" + strings.Join(strings.Fields(body), " ")))
	return hex.EncodeToString(sum[:4])
}

// block is a part of a topic's file: a note, or what stands between notes and is kept as it is.
type block struct {
	raw  string
	line int // 1-based
	note *Note
}

// file is a topic's file taken apart: the blocks joined are its bytes.
type file struct{ blocks []block }

func (f file) String() string {
	var b strings.Builder
	for _, part := range f.blocks {
		b.WriteString(part.raw)
	}
	return b.String()
}

// maxFront bounds the front matter of another tool, in lines.
const maxFront = 64

// parseFile takes a file apart. It never fails: whatever is no heading, front matter or comment is a note.
func parseFile(s string) file {
	var f file
	lines := strings.SplitAfter(s, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	at := 0
	take := func(n int, note bool) {
		raw := strings.Join(lines[at:at+n], "")
		b := block{raw: raw, line: at + 1}
		if note {
			b.note = parseNote(raw)
		}
		f.blocks = append(f.blocks, b)
		at += n
	}
	if n := frontMatter(lines); n > 0 {
		take(n, false)
	}
	for at < len(lines) {
		line := strings.TrimPrefix(lines[at], "\ufeff")
		switch bare := strings.TrimSpace(line); {
		case bare == "", strings.HasPrefix(bare, "#"):
			take(1, false)
		case strings.HasPrefix(bare, "<!--"):
			n := 1
			for !strings.Contains(strings.Join(lines[at:at+n], ""), "-->") && at+n < len(lines) && n < maxFront {
				n++
			}
			take(n, false)
		default:
			take(noteLines(lines[at:]), true)
		}
	}
	return f
}

// frontMatter returns how many lines the front matter takes at the beginning of a file, 0 without one.
func frontMatter(lines []string) int {
	if len(lines) == 0 || strings.TrimSpace(strings.TrimPrefix(lines[0], "\ufeff")) != "---" {
		return 0
	}
	for i := 1; i < min(len(lines), maxFront); i++ {
		if strings.TrimSpace(lines[i]) == "---" {
			return i + 1
		}
	}
	return 0
}

// noteLines returns how many lines the note at the beginning takes: an item of a list or a paragraph, up to a blank
// line, the next item or a heading. A fence of code in it belongs to it as a whole.
func noteLines(lines []string) int {
	fence := ""
	for i, line := range lines {
		bare := strings.TrimSpace(line)
		mark := fenceMark(bare)
		switch {
		case fence != "":
			if mark == fence {
				fence = ""
			}
		case mark != "":
			fence = mark
		case i > 0 && (bare == "" || isItem(line) || strings.HasPrefix(line, "#")):
			return i
		}
	}
	return len(lines)
}

func fenceMark(bare string) string {
	for _, mark := range []string{"```", "~~~"} {
		if strings.HasPrefix(bare, mark) {
			return mark
		}
	}
	return ""
}

func isItem(line string) bool {
	return len(line) > 1 && strings.ContainsRune("-*+", rune(line[0])) && (line[1] == ' ' || line[1] == '\t')
}

// metaHead begins the line below a note that says where it comes from.
const metaHead = "*since "

func isMeta(bare string) bool {
	return strings.HasPrefix(bare, metaHead) && strings.HasSuffix(bare, "*")
}

// parseNote reads a note as it stands in a file.
func parseNote(raw string) *Note {
	n := &Note{By: ByUser}
	var body []string
	for i, line := range strings.Split(strings.TrimRight(raw, "\n"), "\n") {
		line = strings.TrimRight(line, " \t\r")
		bare := strings.TrimSpace(line)
		switch {
		case i == 0 && isItem(line):
			body = append(body, strings.TrimSpace(line[2:]))
		case isMeta(bare):
			n.meta(bare)
		default:
			body = append(body, strings.TrimPrefix(strings.TrimPrefix(line, "  "), "\t"))
		}
	}
	n.Text = text.Clean(strings.TrimSpace(strings.Join(body, "\n")))
	return n
}

// meta reads the line that says where a note comes from. What it does not know it passes over.
func (n *Note) meta(line string) {
	for part := range strings.SplitSeq(strings.Trim(line, "*"), " · ") {
		key, value, _ := strings.Cut(strings.TrimSpace(part), " ")
		switch key {
		case "since":
			n.Since = day(value)
		case "used":
			n.Used = day(value)
		case "by":
			if value == string(ByAgent) {
				n.By = ByAgent
			}
		case "topic":
			n.Topic = Slug(value)
		case "about":
			if About(value) == User {
				n.About = User
			}
		case "imported":
			n.From.Tool = text.OneLine(unescape(strings.TrimPrefix(value, "from ")))
		case "session":
			id, seq, _ := strings.Cut(value, "#")
			n.From.Session = text.OneLine(id)
			n.From.Message, _ = strconv.ParseInt(seq, 10, 64) // 0 is the session as a whole
		case "depends":
			for of := range strings.SplitSeq(strings.TrimPrefix(value, "on "), ", ") {
				if path, hash, ok := strings.Cut(of, "@"); ok && path != "" {
					n.Depends = append(n.Depends, Dependency{unescape(path), hash})
				}
			}
		}
	}
}

func day(s string) time.Time {
	t, err := time.Parse(time.DateOnly, s)
	if err != nil {
		return time.Time{}
	}
	return t
}

// escape writes a text so that it can't end its part of the line.
func escape(s string) string {
	return strings.NewReplacer("%", "%25", ",", "%2C", "*", "%2A", "·", "%C2%B7", "@", "%40", " ", "%20").Replace(text.OneLine(s))
}

func unescape(s string) string {
	out, err := url.PathUnescape(s)
	if err != nil {
		return s
	}
	return out
}

// write writes a note as it stands in a file. A draft says for which book and topic it is.
func (n *Note) write(draft bool) string {
	var b strings.Builder
	for i, line := range strings.Split(strings.TrimSpace(n.Text), "\n") {
		switch {
		case i == 0:
			b.WriteString("- " + line + "\n")
		case strings.TrimSpace(line) == "":
		default:
			b.WriteString("  " + line + "\n")
		}
	}
	fmt.Fprintf(&b, "  %s%s · by %s", metaHead, n.Since.Format(time.DateOnly), n.By)
	if n.From.Session != "" {
		fmt.Fprintf(&b, " · session %s#%d", n.From.Session, n.From.Message)
	}
	if n.From.Tool != "" {
		b.WriteString(" · imported from " + escape(n.From.Tool))
	}
	if !n.Used.IsZero() {
		b.WriteString(" · used " + n.Used.Format(time.DateOnly))
	}
	for i, d := range n.Depends {
		sep := ", "
		if i == 0 {
			sep = " · depends on "
		}
		b.WriteString(sep + escape(d.Path) + "@" + d.Hash)
	}
	if draft {
		fmt.Fprintf(&b, " · topic %s · about %s", n.Topic, n.About)
	}
	b.WriteString("*\n")
	return b.String()
}

// general is the topic of notes that name none.
const general = "general"

// maxSlug bounds a topic, in bytes.
const maxSlug = 40

// Slug turns a topic into the name of its file: small letters, digits and hyphens.
func Slug(topic string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(topic) {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r):
			if b.Len()+len(string(r)) > maxSlug {
				return strings.Trim(b.String(), "-")
			}
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	switch slug := strings.Trim(b.String(), "-"); slug {
	case "", "memory", "inbox":
		return general
	default:
		return slug
	}
}
