package shell

import (
	"strings"

	"jcode/internal/shellword"
)

// FirstWords returns the words that a wider grant would contain: program and subcommand. It returns none for
// programs whose arguments decide everything.
func (cmd Command) FirstWords() string {
	if len(cmd.words) == 0 {
		return ""
	}
	name, known := program(cmd.words[0])
	if !known || cmd.Wrapper || interprets(name) || strings.Contains(cmd.words[0].text, "/") {
		return ""
	}
	switch name {
	case "rm", "mv", "cp", "dd", "chmod", "chown", "ln", "tee", "curl", "wget", "kill", "pkill", "killall", "rsync", "scp", "tar", "export", "alias", "set", "unset",
		"find", "fd", "sort", "install", "truncate", "shred", "mkfs", "mount", "crontab", "systemctl", "launchctl", "reboot", "shutdown":
		return ""
	}
	first := shellword.Join([]string{cmd.words[0].text})
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

// hasSubcommands names programs whose name alone says little.
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
