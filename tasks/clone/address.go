// Package clone keeps clones of the repositories that tasks name by an address of git: which addresses are used at all,
// which of them a worker takes, and a clone of each in which worktrees are made.
//
// It must not know what a task is.
package clone

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"jcode/internal/text"
)

// maxAddress bounds an address, in bytes.
const maxAddress = 1000

// errCredentials says where credentials belong. It does not repeat them.
var errCredentials = errors.New("an address with a user name for https, or with a password, is not used: addresses are shown and copied. Leave it out, and give git a credential helper (git config --global credential.helper) or ssh a key")

// Check returns what is wrong with an address of git. One that it accepts names no program, no option and no secret.
func Check(address string) error {
	switch {
	case address == "":
		return errors.New("an address of git is missing, such as git@host:team/app or https://host/team/app")
	case len(address) > maxAddress:
		return fmt.Errorf("an address of git has at most %d characters", maxAddress)
	case strings.HasPrefix(address, "-"):
		return errors.New("an address of git does not begin with -")
	case strings.ContainsFunc(address, func(r rune) bool { return r <= ' ' || r == 0x7f || r == '\\' || r == '"' || r == '\'' }):
		return errors.New("an address of git has no white space, quotes or backslashes")
	case strings.Contains(address, "::"):
		return errors.New("an address with :: has git start another program: it is not used. Write git@host:team/app or https://host/team/app")
	}
	if scheme, _, ok := strings.Cut(address, "://"); ok {
		return checkURL(scheme, address)
	}
	where, path, ok := strings.Cut(address, ":")
	host := where[strings.LastIndex(where, "@")+1:]
	user := strings.TrimSuffix(where[:len(where)-len(host)], "@")
	switch {
	case !ok || strings.Contains(where, "/"):
		return fmt.Errorf("%s is no address of git such as git@host:team/app or https://host/team/app; a folder of this machine needs no --repo", text.Visible(address))
	case strings.ContainsRune(strings.SplitN(path, "/", 2)[0], '@'): // user:password@host:path
		return errCredentials
	case len(host) < 2 || !isHost(host) || user != "" && !isUser(user):
		return fmt.Errorf("%s names no host such as git@host:team/app", text.Visible(address))
	}
	return checkPath(path)
}

func checkURL(scheme, address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return errors.New("this is no address such as https://host/team/app") // the error would repeat it
	}
	if _, password := u.User.Password(); password || u.User != nil && scheme != "ssh" {
		return errCredentials
	}
	switch scheme {
	case "https", "ssh":
		if !isHost(u.Hostname()) || u.User != nil && !isUser(u.User.Username()) {
			return fmt.Errorf("%s names no host such as https://host/team/app", text.Visible(u.Redacted()))
		}
	case "file":
		if u.Host != "" {
			return errors.New("a file address names no host: file:///srv/app.git")
		}
	default:
		return fmt.Errorf("addresses that begin with %s:// are not used: write https:// or ssh://, which are encrypted", text.Visible(scheme))
	}
	if u.RawQuery != "" || u.Fragment != "" {
		return errors.New("an address of git has no ? and no #")
	}
	if strings.Contains(strings.ToLower(u.EscapedPath()), "%2f") {
		return errors.New("an address of git has no %2F in its path")
	}
	return checkPath(strings.TrimPrefix(u.Path, "/"))
}

func checkPath(path string) error {
	if strings.Trim(path, "/") == "" || strings.HasPrefix(path, "-") {
		return errors.New("an address of git names a repository, such as git@host:team/app")
	}
	for part := range strings.SplitSeq(path, "/") {
		if part == ".." || part == "." || strings.HasPrefix(part, "-") {
			return errors.New("an address of git has no .. and no part that begins with -")
		}
	}
	return nil
}

func isHost(s string) bool {
	return regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$|^[0-9A-Fa-f:]+$`).MatchString(s)
}

func isUser(s string) bool { return regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]*$`).MatchString(s) }

// CheckRef returns what is wrong with the name of a branch, a tag or a commit.
func CheckRef(ref string) error {
	if !regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._/+@-]*$`).MatchString(ref) || strings.Contains(ref, "..") || strings.Contains(ref, "@{") || strings.HasSuffix(ref, ".lock") || len(ref) > 250 {
		return fmt.Errorf("%q is no name of a branch, a tag or a commit", ref)
	}
	return nil
}

// IsCommit reports whether a word is the whole name of a commit.
func IsCommit(word string) bool {
	return regexp.MustCompile(`^[0-9a-f]{40}([0-9a-f]{24})?$`).MatchString(word)
}

// CheckPattern returns what is wrong with a pattern for addresses.
func CheckPattern(pattern string) error {
	example := strings.ReplaceAll(pattern, "*", "x")
	if pattern == "**" {
		return nil
	}
	if err := Check(example); err != nil {
		return fmt.Errorf("%q is no pattern for addresses, such as 'git@host:team/*': %w", text.Visible(hidden(pattern)), err)
	}
	return nil
}

// Match reports whether one of the patterns means an address. A * stands for anything but a slash, ** for anything. An
// address of this machine's files is meant only by a pattern that begins as one.
func Match(patterns []string, address string) bool {
	if Check(address) != nil {
		return false
	}
	for _, p := range patterns {
		if strings.HasPrefix(address, "file:") && !strings.HasPrefix(p, "file:") {
			continue
		}
		expression := strings.NewReplacer(`\*\*`, `.*`, `\*`, `[^/]*`).Replace(regexp.QuoteMeta(p))
		if matched, err := regexp.MatchString("^(?:"+expression+")$", address); err == nil && matched {
			return true
		}
	}
	return false
}

// hidden takes what may be a secret out of a text that git wrote about an address.
func hidden(s string) string {
	return regexp.MustCompile(`://[^/\s@]*@`).ReplaceAllString(s, "://…@")
}
