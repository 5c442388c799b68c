package permission

import "strings"

// storable returns the exact rules for what is not allowed yet, and the wider ones by first
// words, with the hashes that they are tied to. A line that can't be parted into known
// commands is stored whole. What can't be told apart from another program is not stored.
func (c *checking) storable(line Line) (exact, broad []string, hashes map[string]string) {
	whole := line.pin()
	if whole.unknown {
		return nil, nil, nil
	}
	hashes = map[string]string{}
	stored := func() []string {
		rules := faithful([]string{"exec(" + line.Text + ")"}, func(p *commandPattern) bool { return p.vouchesLine(line.Text) })
		for _, r := range rules {
			hashes[r] = whole.hash
		}
		return rules
	}
	if line.Doubt != "" {
		return stored(), nil, hashes
	}
	wide := true
	for i, cmd := range line.Commands {
		if cmd.wrapped > 0 {
			continue
		}
		if _, ok := c.commandAllowed(line, i); ok {
			continue
		}
		one := faithful([]string{"exec(" + cmd.Text + ")"}, func(p *commandPattern) bool { return p.literal() && p.vouches(cmd) })
		if one == nil {
			return stored(), nil, hashes
		}
		hash := line.pinOf(i).hash
		if was, twice := hashes[one[0]]; twice && was != hash {
			return stored(), nil, hashes // the same words for two programs
		}
		exact, hashes[one[0]] = union(exact, one), hash
		first := firstWords(cmd)
		if first == "" {
			wide = false
			continue
		}
		broad = union(broad, faithful([]string{"exec(" + first + " *)"}, func(p *commandPattern) bool { return p.vouches(cmd) }))
	}
	if !wide {
		broad = nil
	}
	return exact, broad, hashes
}

// faithful gives the rules if each is read back as it is written and covers what it was
// made for, else none.
func faithful(rules []string, covers func(*commandPattern) bool) []string {
	for _, s := range rules {
		r, err := ParseRule(s)
		if err != nil || r.String() != s || !covers(r.command) {
			return nil
		}
	}
	return rules
}

// firstWords gives the words that a wider grant would hold: program and subcommand. Not
// for programs whose arguments are everything.
func firstWords(cmd Command) string {
	name, known := program(cmd.words[0])
	if !known || cmd.wrapper || interprets(name) || strings.Contains(cmd.words[0].text, "/") {
		return ""
	}
	switch name {
	case "rm", "mv", "cp", "dd", "chmod", "chown", "ln", "tee", "curl", "wget", "kill", "pkill", "killall", "rsync", "scp", "tar", "export", "alias", "set", "unset",
		"find", "fd", "sort", "install", "truncate", "shred", "mkfs", "mount", "crontab", "systemctl", "launchctl", "reboot", "shutdown":
		return ""
	}
	first := quote(cmd.words[0].text)
	n := 1
	for n < len(cmd.words) && n < 3 && isSubcommand(cmd.words[n].text) {
		first += " " + cmd.words[n].text
		if n++; cmd.words[n-1].text != "run" { // npm run build
			break
		}
	}
	if n == 1 && hasSubcommands(name) {
		return ""
	}
	return first
}

// hasSubcommands names programs whose first word says little.
func hasSubcommands(name string) bool {
	switch name {
	case "git", "go", "npm", "pnpm", "yarn", "cargo", "gh", "aws", "gcloud", "az", "brew", "apt", "apt-get", "pip", "pip3", "terraform", "helm", "hg", "svn", "dotnet", "rustup", "uv":
		return true
	}
	return false
}

// isSubcommand reports whether a word looks like one: lower-case letters and dashes.
func isSubcommand(s string) bool {
	if s == "" || s[0] == '-' {
		return false
	}
	for i := range len(s) {
		if c := s[i]; (c < 'a' || c > 'z') && c != '-' && c != ':' {
			return false
		}
	}
	return true
}
