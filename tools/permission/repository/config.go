package repository

import (
	"bytes"
	"errors"
	"strings"

	"jcode/internal/pattern"
)

// setting is one key of a git configuration.
type setting struct {
	section, sub, name string // section and name in lower case
	value              string
	bare               bool // without "=": git reads it as true
}

func (s setting) key() string {
	if s.section == "" {
		return s.name
	}
	return s.section + "." + s.name
}

var errConfig = errors.New("its configuration can't be parsed")

// parseConfig parses a configuration file as git does: a comment ends with its line whatever precedes the
// newline, a backslash continues only a value, and whatever git rejects is an error.
func parseConfig(data []byte) ([]setting, error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	p := &configParser{rest: bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))}
	var out []setting
	section, sub := "", ""
	for {
		c, ok := p.next()
		switch {
		case !ok:
			return out, nil
		case c == '#' || c == ';':
			p.skipLine()
		case isConfigSpace(c):
		case c == '[':
			var err error
			if section, sub, err = p.section(); err != nil {
				return out, err
			}
		case isConfigAlpha(c):
			s, err := p.setting(c)
			if err != nil {
				return out, err
			}
			s.section, s.sub = section, sub
			out = append(out, s)
		default:
			return out, errConfig
		}
	}
}

type configParser struct{ rest []byte }

func (p *configParser) next() (byte, bool) {
	if len(p.rest) == 0 {
		return 0, false
	}
	c := p.rest[0]
	p.rest = p.rest[1:]
	return c, true
}

func (p *configParser) skipLine() {
	i := bytes.IndexByte(p.rest, '\n')
	if i < 0 {
		i = len(p.rest) - 1
	}
	p.rest = p.rest[i+1:]
}

// section reads what follows "[": name], name.sub] or name "sub"].
func (p *configParser) section() (section, sub string, err error) {
	var b strings.Builder
	for {
		c, ok := p.next()
		switch {
		case !ok:
			return "", "", errConfig
		case c == ']':
			section, sub, _ = strings.Cut(strings.ToLower(b.String()), ".")
			return section, sub, nil
		case isConfigSpace(c):
			sub, err = p.quotedSection(c)
			return strings.ToLower(b.String()), sub, err
		case !isConfigKey(c) && c != '.':
			return "", "", errConfig
		}
		b.WriteByte(c)
	}
}

func (p *configParser) quotedSection(c byte) (string, error) {
	ok := true
	for ok && isConfigSpace(c) {
		if c == '\n' {
			return "", errConfig
		}
		c, ok = p.next()
	}
	if !ok || c != '"' {
		return "", errConfig
	}
	var b strings.Builder
	for {
		c, ok := p.next()
		if c == '\\' && ok {
			c, ok = p.next()
			if ok && c != '\n' {
				b.WriteByte(c)
				continue
			}
		}
		switch {
		case !ok || c == '\n':
			return "", errConfig
		case c == '"':
			if end, ok := p.next(); !ok || end != ']' {
				return "", errConfig
			}
			return b.String(), nil
		}
		b.WriteByte(c)
	}
}

// setting reads a key whose first letter was already read, and its value.
func (p *configParser) setting(first byte) (setting, error) {
	name := []byte{first}
	c, ok := p.next()
	for ok && isConfigKey(c) {
		name = append(name, c)
		c, ok = p.next()
	}
	for ok && (c == ' ' || c == '\t') {
		c, ok = p.next()
	}
	s := setting{name: strings.ToLower(string(name))}
	switch {
	case !ok || c == '\n':
		s.bare = true
		return s, nil
	case c != '=':
		return s, errConfig
	}
	var err error
	s.value, err = p.value()
	return s, err
}

// value reads a value to the end of its line or lines.
func (p *configParser) value() (string, error) {
	var b strings.Builder
	quoted, comment, keep := false, false, 0 // keep: the length without trailing white space
	for {
		c, ok := p.next()
		if !ok || c == '\n' {
			if quoted {
				return "", errConfig
			}
			return b.String()[:keep], nil
		}
		if comment {
			continue
		}
		if isConfigSpace(c) && !quoted {
			if b.Len() > 0 {
				b.WriteByte(c)
			}
			continue
		}
		switch {
		case !quoted && (c == ';' || c == '#'):
			comment = true
			continue
		case c == '"':
			quoted = !quoted
			keep = b.Len()
			continue
		case c == '\\':
			e, ok := p.next()
			switch {
			case !ok:
				return "", errConfig
			case e == '\n':
				continue
			case e == 't':
				e = '\t'
			case e == 'b':
				e = '\b'
			case e == 'n':
				e = '\n'
			case e != '\\' && e != '"':
				return "", errConfig
			}
			c = e
		}
		b.WriteByte(c)
		keep = b.Len()
	}
}

func isConfigSpace(c byte) bool {
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f'
}

func isConfigAlpha(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

func isConfigKey(c byte) bool { return isConfigAlpha(c) || c >= '0' && c <= '9' || c == '-' }

// lfsFilters matches the commands that git-lfs installs: any other text would be a shell line of the
// repository's.
var lfsFilters = pattern.Lazy(`^git-lfs (clean -- %f|smudge -- %f|smudge --skip -- %f|filter-process|filter-process --skip)$`)

// effect is what a setting of a repository makes git do besides reading that repository.
type effect int

const (
	harmless     effect = iota
	steers              // run something, look elsewhere or fetch, jcode's own git, too
	steersOthers        // the same, but not jcode's own git: package launch sets another value, forbids what it leads to, or the command is not used
	placesFiles         // take another folder as the one with the repository's files
	readsFile           // read the file that is the value, and print parts of it
)

// effect returns what a setting does with the value that it has.
func (s setting) effect() effect {
	on := s.bare || !isFalse(s.value)
	switch s.section {
	case "include", "includeif":
		return steers
	case "core":
		return s.coreEffect()
	case "filter":
		return steers.where((s.name == "clean" || s.name == "smudge" || s.name == "process") && !lfsFilters().MatchString(s.value))
	case "lfs": // what its filters run
		return steers.where(strings.HasPrefix(s.sub, "customtransfer.") || strings.HasPrefix(s.sub, "extension.") || s.name == "standalonetransferagent")
	case "protocol":
		return steersOthers
	case "diff":
		if s.key() == "diff.orderfile" {
			return readsFile
		}
		return steersOthers.where(s.name == "external" || s.name == "command" || s.name == "textconv")
	case "merge":
		return steersOthers.where(s.name == "driver")
	case "log":
		return steersOthers.where(s.name == "showsignature" && on || s.name == "diffmerges")
	case "format":
		return steersOthers.where(s.name == "pretty" && AsksForSignature(s.value))
	case "pretty":
		return steersOthers.where(AsksForSignature(s.value))
	case "gpg":
		return steersOthers.where(s.name == "program" || s.name == "defaultkeycommand")
	case "extensions":
		return steersOthers.where(s.name == "partialclone")
	case "remote":
		return steersOthers.where(s.name == "promisor" && on)
	}
	switch s.key() {
	case "blame.ignorerevsfile", "mailmap.file", "commit.template":
		return readsFile
	}
	return harmless
}

// coreEffect is effect for the section core.
func (s setting) coreEffect() effect {
	switch s.name {
	case "worktree":
		if s.sub == "" {
			return placesFiles
		}
		return steers // git knows no such key: whoever writes it means no good
	case "fsmonitor":
		return steersOthers.where(!s.bare && !isBool(s.value))
	case "sshcommand", "gitproxy", "hookspath", "alternaterefscommand":
		return steersOthers
	case "excludesfile", "attributesfile":
		return readsFile
	}
	return harmless
}

// where returns the effect if a condition holds, else harmless.
func (e effect) where(holds bool) effect {
	if holds {
		return e
	}
	return harmless
}

// signature matches placeholders that make git run gpg: %G?, also with a sign that adds or removes white
// space; %(signature) with its forms.
var signature = pattern.Lazy(`%[-+ ]*G|%\([^)]*signature`)

// AsksForSignature reports whether a format makes git run gpg.
func AsksForSignature(format string) bool { return signature().MatchString(format) }

func isFalse(value string) bool {
	switch strings.ToLower(value) {
	case "", "false", "no", "off", "0":
		return true
	}
	return false
}

func isBool(value string) bool {
	switch strings.ToLower(value) {
	case "true", "yes", "on", "1":
		return true
	}
	return isFalse(value)
}
