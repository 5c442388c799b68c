package shell

import (
	"strings"

	"jcode/internal/pattern"
)

// sedScript matches scripts that only print, drop and replace lines: 5p, 1,20p;40q, $d, /word/!d, s/a/b/g.
// Brackets and backslashes are excluded: implementations of sed don't agree on where they end an expression.
var sedScript = pattern.Lazy(`^` + sedStep + `(;\s*` + sedStep + `)*;?$`)

const (
	sedAddress = `(\d+|\$|/[\w .-]+/)`
	sedStep    = `(` + sedAddress + `(,\s*(` + sedAddress + `|\+\d+))?\s*!?)?([pdq=]|s/[^/\\\n\[\]]*/[^/\\\n\[\]]*/[gpiI0-9]*)`
)

// sed accepts one script of the plain kind, before the files.
func sed(words []word) string {
	script := false
	for _, w := range words[1:] {
		s := w.text
		switch {
		case s == "--quiet" || s == "--silent", len(s) > 1 && s[0] == '-' && strings.Trim(s[1:], "nEr") == "":
		case strings.HasPrefix(s, "-") || !script && !sedScript().MatchString(s):
			return "sed can write files and run commands"
		default:
			script = true
		}
	}
	if !script {
		return "sed can write files and run commands"
	}
	return ""
}

// awkProgram matches programs that print fields of lines selected by a number, a comparison or a word. Braces
// contain no redirection.
var awkProgram = pattern.Lazy(`^\s*(` + awkTest + `(\s*(&&|\|\|)\s*` + awkTest + `)*)?\s*(\{\s*print(\s*` + awkValue + `([\s,]*` + awkValue + `)*)?\s*;?\s*\})?\s*$`)

const (
	awkVariable = `(NR|FNR|NF|\$\d+|\$NF)`
	awkText     = `"[\w .,:;/=-]*"`
	awkTest     = `(!?/[\w .-]+/|` + awkVariable + `\s*(==|!=|>=|<=|>|<)\s*(\d+|` + awkText + `)|` + awkVariable + `\s*%\s*\d+\s*==\s*\d+)`
	awkValue    = `(` + awkVariable + `|` + awkText + `)`
)

// awk accepts one program of the plain kind, preceded by nothing but a field separator.
func awk(words []word) string {
	const why = "awk can write files and run commands"
	args := words[1:]
	if len(args) > 0 && strings.HasPrefix(args[0].text, "-F") {
		if args[0].text == "-F" && len(args) > 1 {
			args = args[1:]
		}
		args = args[1:]
	}
	if len(args) == 0 || args[0].text == "" || args[0].glob || !awkProgram().MatchString(args[0].text) {
		return why
	}
	for _, w := range args[1:] {
		if strings.HasPrefix(w.text, "-") && w.text != "-" {
			return why
		}
	}
	return ""
}
