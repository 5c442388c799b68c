package permission

import (
	"slices"
	"strings"

	"jcode/internal/toolcard"
	"jcode/tools"
)

// inWords says what rules cover, for a person: "edits of a.go", "commands that begin with go test". Rules that differ in
// one word alone share the rest. One that has no words is shown as it is stored.
func (c *checking) inWords(rules []string) string {
	var said []covered
	add := func(does, what string) {
		if i := slices.IndexFunc(said, func(o covered) bool { return o.does == does }); i >= 0 {
			said[i].what = union(said[i].what, []string{what})
			return
		}
		said = append(said, covered{does, []string{what}})
	}
	done := map[string][]string{} // what is done to each file
	for _, rule := range rules {
		if does, what := c.doneTo(rule); what != "" {
			done[what] = append(done[what], does)
		}
	}
	for _, rule := range rules {
		switch _, file := c.doneTo(rule); {
		case file != "" && slices.Equal(done[file], []string{editing}):
			add("edits of ", file)
		case file != "":
			add(and(done[file])+" ", file)
		default:
			add(c.covered(rule))
		}
	}
	out := make([]string, len(said))
	for i, s := range said {
		out[i] = s.does + and(s.what)
	}
	return strings.Join(out, ", ")
}

// covered is what rules cover: what may be done, and to what.
type covered struct {
	does string
	what []string
}

// and joins words as a sentence does.
func and(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}

const editing = "editing"

// doneTo says what a rule lets be done to a file, or to those of a folder.
func (c *checking) doneTo(rule string) (does, what string) {
	tool, pattern, _ := strings.Cut(strings.TrimSuffix(rule, ")"), "(")
	does = map[string]string{"read": "reading", "edit": editing, "apply_patch": editing, "write": "writing", "remove": "removing"}[tool]
	file := c.g.places.Show(strings.TrimSuffix(pattern, "/**"))
	if does == "" || pattern == "" || escapeGlob(file) != file {
		return "", ""
	}
	if strings.HasSuffix(pattern, "/**") {
		file = "anything in " + file
	}
	return does, show(file)
}

// exact reports whether a rule covers one command alone.
func exact(rule string) bool {
	r, err := ParseRule(rule)
	return err == nil && r.command != nil && (r.command.Whole || r.command.Literal())
}

// covered says what a rule covers that is not about a file.
func (c *checking) covered(rule string) (does, what string) {
	if words := toolcard.Of(rule).Grants; words != "" {
		return "", strings.TrimSuffix(words, ",") // a comma leads on to "in this project" elsewhere
	}
	tool, pattern, _ := strings.Cut(strings.TrimSuffix(rule, ")"), "(")
	first, begins := strings.CutSuffix(pattern, " *")
	switch {
	case pattern == "":
	case tool == string(tools.AccessExec) && begins && exact(tool+"("+first+")"):
		return "commands that begin with ", show(first)
	case tool == string(tools.AccessExec) && exact(rule) && pattern == strings.TrimSpace(c.rawCommand()):
		return "", "this command"
	case tool == string(tools.AccessExec) && exact(rule):
		return "", "`" + show(pattern) + "`"
	case escapeGlob(pattern) != pattern:
	case tool == "fetch":
		return "", "pages of " + show(pattern)
	case tool == "mcp" && !strings.Contains(pattern, ":"):
		return "", "all tools of " + show(pattern)
	case tool == string(tools.AccessInput):
		return "", "whatever is typed into " + show(pattern)
	}
	return "", show(rule)
}
