package permissionscli

import (
	"jcode/cli/config"
	"jcode/cli/console"
	"jcode/tools/permission"
)

// Join joins the rules of the settings with those of the command line.
func Join(p config.Permissions, allow, deny []string) (permission.RuleSet, error) {
	for _, text := range deny {
		if _, err := permission.ParseRestriction(text); err != nil {
			return permission.RuleSet{}, console.Usage("--deny: %w", err)
		}
	}
	set, err := permission.ParseRules(append(p.Allow, allow...), p.Ask, append(p.Deny, deny...))
	if err != nil {
		return set, console.Usage("permission rules: %w", err)
	}
	return set, nil
}

// Fixed returns the rules of this machine's administrator.
func Fixed(m *config.Managed) []permission.Rule {
	var out []permission.Rule
	for _, l := range m.Denied() {
		out = append(out, meaning("deny", l.Text)...)
	}
	return out
}

// meaning returns what a rule of this effect means; nothing if it can't be read.
func meaning(effect, text string) []permission.Rule {
	if effect != "allow" {
		rules, _ := permission.ParseRestriction(text) // its faults are reported where the settings are read
		return rules
	}
	r, err := permission.ParseRule(text)
	if err != nil {
		return nil
	}
	return []permission.Rule{r}
}
