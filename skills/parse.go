package skills

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"jcode/internal/frontmatter"
	"jcode/internal/text"
)

// The format's limits, in characters.
const (
	maxName          = 64
	maxDescription   = 1024
	maxCompatibility = 500
)

// maxFile is the largest size of a SKILL.md or command file in bytes.
const maxFile = 1 << 20

// parse parses a SKILL.md. The entry is Broken if it cannot be used. Its diagnostics list every
// departure from the format.
func parse(data []byte, file string, src Source) Entry {
	e := Entry{State: Active, Skill: Skill{
		Dir: filepath.Dir(file), File: file, Source: src, Hash: hash(data),
	}}
	folder := filepath.Base(e.Dir)
	e.Name, _ = slug(folder)
	p := reader{file: file, doc: frontmatter.Parse(data)}
	if base := filepath.Base(file); base != skillFile {
		p.warn(0, fmt.Sprintf("the file is named %s", base), "rename it to "+skillFile)
	}
	switch {
	case !p.doc.Present:
		p.fault(1, "there is no front matter", "begin the file with `---`, `name:`, `description:` and `---`")
	case !p.doc.Closed:
		p.fault(1, "the front matter is never closed", "put a line `---` after its last key")
	default:
		p.name(&e, folder)
		p.description(&e)
		p.optional(&e)
		if strings.TrimSpace(p.doc.Body) == "" {
			p.warn(p.doc.BodyLine, "there are no instructions after the front matter", "write what the agent is to do")
		}
	}
	if p.faulty {
		e.State = Broken
	}
	e.Diagnostics = p.found
	return e
}

// reader collects the problems of one file while it is parsed.
type reader struct {
	file   string
	doc    frontmatter.Document
	found  []Diagnostic
	faulty bool
}

func (p *reader) warn(line int, text, cure string) {
	p.found = append(p.found, Diagnostic{File: p.file, Line: line, Level: Warning, Text: text, Cure: cure})
}

func (p *reader) fault(line int, text, cure string) {
	p.faulty = true
	p.found = append(p.found, Diagnostic{File: p.file, Line: line, Level: Fault, Text: text, Cure: cure})
}

// scalar returns a key's value as one text, and warns if it is a list or a map.
func (p *reader) scalar(key string) (value string, line int) {
	f, ok := p.doc.Get(key)
	if !ok {
		return "", 0
	}
	if f.Kind == frontmatter.List || f.Kind == frontmatter.Map {
		p.warn(f.Line, "`"+key+"` should be one text and is read as "+quote(f.String()), "write it as text, in double quotes")
	}
	return text.Clean(strings.TrimSpace(f.String())), f.Line
}

func (p *reader) name(e *Entry, folder string) {
	name, line := p.scalar("name")
	if name == "" {
		p.warn(line, "there is no `name`; the folder's name is used: "+e.Name, "add `name: "+e.Name+"`")
		return
	}
	clean, changed := slug(name)
	switch {
	case clean == "":
		p.warn(line, fmt.Sprintf("the name %s contains no letter or digit; the folder's name is used: %s", quote(name), e.Name), "add `name: "+e.Name+"`")
		return
	case changed:
		p.warn(line, fmt.Sprintf("the name %s is read as %s", quote(name), clean),
			fmt.Sprintf("use lower-case letters, digits and single hyphens, at most %d", maxName))
	case clean != folder:
		p.warn(line, fmt.Sprintf("the name %s differs from the folder's, %s", clean, folder), "rename one of them")
	}
	e.Name = clean
}

func (p *reader) description(e *Entry) {
	description, line := p.scalar("description")
	if description == "" {
		p.fault(max(line, 1), "there is no `description`", "add one that says what the skill does and when to use it")
		return
	}
	if n := utf8.RuneCountInString(description); n > maxDescription {
		p.warn(line, fmt.Sprintf("the description has %d characters, over the format's %d", n, maxDescription), "shorten it: the model sees only its beginning")
	}
	e.Description = description
}

// optional reads the optional keys, and reports unknown ones.
func (p *reader) optional(e *Entry) {
	e.License, _ = p.scalar("license")
	e.Hint, _ = p.scalar("argument-hint")
	var line int
	if e.Compatibility, line = p.scalar("compatibility"); utf8.RuneCountInString(e.Compatibility) > maxCompatibility {
		p.warn(line, fmt.Sprintf("`compatibility` is over the format's %d characters", maxCompatibility), "shorten it")
	}
	if f, ok := p.doc.Get("metadata"); ok && f.Kind != frontmatter.Null {
		if f.Kind != frontmatter.Map {
			p.warn(f.Line, "`metadata` should be a map and is ignored", "write indented `key: value` lines below it")
		}
		e.Metadata = f.Map
	}
	e.Rules = p.rules("allowed-tools")
	e.ManualOnly = p.yes("disable-model-invocation", false)
	e.Hidden = !p.yes("user-invocable", true)
	if f, ok := p.doc.Get("hooks"); ok && f.Kind != frontmatter.Null {
		e.Hooks = true
		p.warn(f.Line, "hooks of a skill are not run", "write them below `hooks` in a settings file or a role")
	}
	p.rest(map[string]bool{
		"hooks": true,
		"name":  true, "description": true, "license": true, "compatibility": true, "metadata": true,
		"allowed-tools": true, "argument-hint": true, "disable-model-invocation": true, "user-invocable": true,
	})
}

// yes reads a boolean key.
func (p *reader) yes(key string, otherwise bool) bool {
	value, line := p.scalar(key)
	switch strings.ToLower(value) {
	case "":
		return otherwise
	case "true", "yes", "on":
		return true
	case "false", "no", "off":
		return false
	}
	p.warn(line, fmt.Sprintf("`%s: %s` is neither true nor false and is ignored", key, value), "write true or false")
	return otherwise
}

// rest reports unknown keys and the problems of the front matter itself.
func (p *reader) rest(known map[string]bool) {
	for _, f := range p.doc.Fields {
		if !known[strings.ReplaceAll(strings.ToLower(f.Key), "_", "-")] {
			p.warn(f.Line, "the key `"+f.Key+"` is not known and has no effect", "move it below `metadata`, or remove it")
		}
	}
	for _, pr := range p.doc.Problems {
		p.warn(pr.Line, pr.Text, pr.Cure)
	}
}

// slug makes a name that can follow a slash: letters and digits in lower case, runs
// of anything else as one hyphen, at most 64 characters.
func slug(name string) (clean string, changed bool) {
	var b strings.Builder
	n := 0
	gap := false
	for _, r := range name {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && r != '_' {
			gap = true
			continue
		}
		if gap && n > 0 && n < maxName {
			b.WriteByte('-')
			n++
		}
		gap = false
		if n >= maxName {
			break
		}
		b.WriteRune(unicode.ToLower(r))
		n++
	}
	clean = strings.Trim(b.String(), "-_")
	return clean, clean != name
}

func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// quote returns a value for a message: at most 60 bytes, in one line.
func quote(s string) string {
	return `"` + text.Ellipsis(text.Visible(strings.NewReplacer("\n", " ", "\t", " ").Replace(s)), 60) + `"`
}
