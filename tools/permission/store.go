package permission

import (
	"jcode/tools/permission/shell"
)

// storable returns the exact rules for what is not allowed yet, and the wider ones by first words, with the
// hashes that they are tied to. A line that can't be split into known commands is stored whole. What can't be
// told apart from another program is not stored.
func (c *checking) storable(line shell.Line) (exact, broad []string, hashes map[string]string) {
	whole := line.Pin()
	if whole.Unknown {
		return nil, nil, nil
	}
	hashes = map[string]string{}
	stored := func() []string {
		rules := faithful("exec("+line.Text+")", func(p *shell.Pattern) bool { return p.VouchesLine(line.Text) })
		for _, r := range rules {
			hashes[r] = whole.Hash
		}
		return rules
	}
	if line.Doubt != "" {
		return stored(), nil, hashes
	}
	wide := true
	for i, cmd := range line.Commands {
		if cmd.Wrapped > 0 {
			continue
		}
		if _, ok := c.commandAllowed(line, i); ok {
			continue
		}
		one := faithful("exec("+cmd.Text+")", func(p *shell.Pattern) bool { return p.Literal() && p.Vouches(cmd) })
		if one == nil {
			return stored(), nil, hashes
		}
		hash := line.PinOf(i).Hash
		if was, twice := hashes[one[0]]; twice && was != hash {
			return stored(), nil, hashes // the same words for two programs
		}
		exact, hashes[one[0]] = union(exact, one), hash
		first := cmd.FirstWords()
		if first == "" {
			wide = false
			continue
		}
		broad = union(broad, faithful("exec("+first+" *)", func(p *shell.Pattern) bool { return p.Vouches(cmd) }))
	}
	if !wide {
		broad = nil
	}
	return exact, broad, hashes
}

// faithful returns a rule if it is parsed back unchanged and covers what it was made for, otherwise none.
func faithful(rule string, covers func(*shell.Pattern) bool) []string {
	r, err := ParseRule(rule)
	if err != nil || r.String() != rule || !covers(r.command) {
		return nil
	}
	return []string{rule}
}
