package edit

import (
	"fmt"
	"strings"

	"jcode/internal/pattern"
)

// The words that a writer uses instead of text that it means to keep. A line with dots at one end
// must also say that something is kept (lazy) and what (noun), or that something is left out
// (cut); with dots at both ends lazy is enough. worded needs no dots.
var (
	dots   = pattern.Lazy(`^[\[({<]?\s*(?:\.{3,}|…)|(?:\.{3,}|…)\s*[\])}>]?$`)
	lazy   = pattern.Lazy(`(?i)\b(?:rest|remaining|remainder|existing|previous|unchanged|same|omitted|keep|other)\b`)
	cut    = pattern.Lazy(`(?i)\b(?:omitted|unchanged|elided|snip(?:ped)?|truncated|skipped|abbreviated|for brevity|as before|as is|same as (?:before|above))\b`)
	both   = pattern.Lazy(`^[\[({<]?\s*(?:\.{3,}|…)\s+.{1,60}\s(?:\.{3,}|…)\s*[\])}>]?$`)
	noun   = pattern.Lazy(`(?i)\b(?:code|files?|functions?|methods?|class(?:es)?|contents?|implementations?|lines?|imports?|logic|body|tests?|components?|styles?|fields?|unchanged|before|above|as is)\b`)
	worded = pattern.Lazy(`(?i)^[\[({<]?\s*(?:the\s+)?(?:rest|remainder)\s+of\s+(?:the\s+|this\s+|your\s+)?[\w ]{1,30}?` +
		`\s+(?:is\s+|are\s+|remains?\s+|stays?\s+|left\s+)*(?:unchanged|the same|as is|as before|omitted)\b.{0,20}$`)
)

// Omission looks in text for a line that replaces omitted text, such as `// ... rest of code
// unchanged ...`, and that is not in original. It returns the first such line, trimmed.
func Omission(text, original string) (line string, found bool) {
	for l := range strings.Lines(text) {
		if !strings.ContainsAny(l, ".…") && !strings.Contains(strings.ToLower(l), "of") || len(l) > 120 {
			continue
		}
		l = strings.TrimSpace(l)
		core, comment := uncomment(l)
		if comment && replacesText(core) && !strings.Contains(original, l) {
			return l, true
		}
	}
	return "", false
}

// replacesText reports whether the words of a comment replace omitted text.
func replacesText(core string) bool {
	switch {
	case worded().MatchString(core):
		return true
	case !dots().MatchString(core):
		return false
	}
	return cut().MatchString(core) || lazy().MatchString(core) && (noun().MatchString(core) || both().MatchString(core))
}

// uncomment removes comment signs. A line without them counts as a comment if it begins with dots or
// a bracket, as in `... existing code ...`.
func uncomment(l string) (core string, comment bool) {
	for _, c := range [][2]string{
		{"//", ""},
		{"#", ""},
		{"--", ""},
		{";", ""},
		{"%", ""},
		{"/*", "*/"},
		{"*", ""},
		{"<!--", "-->"},
		{"{/*", "*/}"},
		{`"""`, `"""`},
		{"'''", "'''"},
		{"{#", "#}"},
		{"(*", "*)"},
	} {
		if rest, ok := strings.CutPrefix(l, c[0]); ok {
			rest = strings.TrimLeft(rest, "/#-;%*! ")
			return strings.TrimSpace(strings.TrimSuffix(rest, c[1])), true
		}
	}
	return l, strings.HasPrefix(l, "...") || strings.HasPrefix(l, "…") || strings.HasPrefix(l, "[") || strings.HasPrefix(l, "(") || strings.HasPrefix(l, "<")
}

func omissionError(line string) error {
	return fmt.Errorf("the new text has %q, which replaces omitted text and would delete it: give the whole text, or edit only the lines that change", line)
}

// CheckOmission is Omission, with an error for a writer of whole files.
func CheckOmission(text, original string) error {
	if line, ok := Omission(text, original); ok {
		return omissionError(line)
	}
	return nil
}
