package switching

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"jcode/cli/config"
	"jcode/internal/toolcard"
	"jcode/tools/permission"
)

// rules offers rules for a list, allow, ask or deny, that are not in it yet. Those that mean nothing here are named.
func (f *finder) rules(list, from string, rules []string) {
	file := f.settingsFile()
	var have []string
	if all, ok := has(own(file), "permissions"); ok {
		if lists, ok := all.(object); ok {
			value, _ := has(lists, list)
			items, _ := value.([]any)
			have = texts(items)
		}
	}
	var fresh, faults []string
	for _, rule := range rules {
		ours, err := ourRule(list, rule)
		switch {
		case err != nil:
			faults = append(faults, rule)
		case !slices.Contains(have, ours) && !slices.Contains(fresh, ours):
			fresh = append(fresh, ours)
		}
	}
	if len(fresh) > 0 {
		f.offer(Rules, list, from, fmt.Sprintf("%s: %s", map[string]string{"allow": "allow without a question", "ask": "ask each time", "deny": "refuse"}[list], strings.Join(slicesOf(fresh, broad), ", ")), func(context.Context) error {
			for _, rule := range fresh {
				if err := config.Include(file, "permissions."+list, rule, true); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if len(faults) > 0 {
		f.refuse(Rules, list+"-unknown", from, "of no tool here: %s", strings.Join(faults, ", "))
	}
}

// broad says what a rule allows that has no bounds.
func broad(rule string) string {
	switch rule {
	case "exec":
		return "exec (every command)"
	case "*":
		return "* (every call)"
	}
	return rule
}

// ourRule returns a rule as jcode writes it.
func ourRule(list, rule string) (string, error) {
	if list != "allow" {
		all, err := permission.ParseRestriction(rule)
		if err != nil || len(all) == 0 {
			return "", fmt.Errorf("rule %q: %w", rule, err)
		}
		return known(all[0])
	}
	r, err := permission.ParseRule(rule)
	if err != nil {
		return "", err
	}
	return known(r)
}

func known(r permission.Rule) (string, error) {
	if !toolcard.Known(r.Tool) && r.Tool != "*" {
		return "", fmt.Errorf("there is no tool %s", r.Tool)
	}
	return r.String(), nil
}

// geminiRule writes a rule of Gemini CLI: the name of a tool, with the beginning of a command in brackets.
func geminiRule(theirs string) string {
	name, pattern, bracket := strings.Cut(strings.TrimSuffix(theirs, ")"), "(")
	ours, ok := toolcard.Ours(name)
	switch {
	case name == "ShellTool":
		ours = "exec"
	case !ok:
		return theirs
	}
	if bracket {
		return ours + "(" + strings.TrimSuffix(pattern, " *") + " *)"
	}
	return ours
}

// crushRule writes a rule of crush: the name of a tool, or one of a server. An action behind a colon has no counterpart.
func crushRule(theirs string) string {
	if ours, ok := toolcard.Ours(theirs); ok && !strings.HasPrefix(theirs, "mcp") {
		return ours
	}
	return theirs
}

// opencodeRules offers opencode's permissions: a word for all, or for each kind one or some by pattern, of which the last
// that matches counts there.
func (f *finder) opencodeRules(permissions any, from string) {
	kinds, _ := permissions.(object)
	lists := map[string][]string{}
	for _, kind := range sorted(kinds) {
		ours := map[string]string{"edit": "edit", "bash": "exec", "webfetch": "fetch", "read": "read", "glob": "glob", "grep": "grep", "websearch": "web_search"}[kind]
		if ours == "" {
			f.refuse(Rules, kind, from, "the permission %s has no counterpart here", kind)
			continue
		}
		switch value := kinds[kind].(type) {
		case string:
			lists[value] = append(lists[value], ours)
		case object:
			if value["*"] == "deny" && len(value) > 1 {
				f.refuse(Rules, kind, from, "it refuses all and allows some, but here a rule that refuses comes first: write the rules anew")
				continue
			}
			for _, pattern := range sorted(value) {
				word, _ := value[pattern].(string)
				switch {
				case pattern == "*" && word == "ask": // the mode asks
				case pattern == "*":
					lists[word] = append(lists[word], ours)
				default:
					lists[word] = append(lists[word], ours+"("+pattern+")")
				}
			}
		}
	}
	for _, list := range []string{"allow", "ask", "deny"} {
		f.rules(list, from, lists[list])
	}
}
