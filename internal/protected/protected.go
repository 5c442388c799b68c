// Package protected owns which files steer something: git, an agent, a login. They are recognised by name,
// wherever they are.
//
// It must not know what happens to such a file, or who asks.
package protected

import (
	"os"
	"path/filepath"
	"strings"

	"jcode/internal/system"
)

// Kind says what a protected file steers; "" for a file that steers nothing.
type Kind string

// The kinds, in words for a person.
const (
	Git     Kind = "git's own files"
	Agent   Kind = "files that steer the agent"
	Servers Kind = "servers that jcode starts"
	Account Kind = "start-up and key files of your account"
	Hooks   Kind = "hooks that git runs"
)

// Name returns the kind of a file or folder by its own name.
func Name(name string) Kind {
	switch strings.ToLower(strings.TrimRight(name, " .")) {
	// Windows treats ".git." and ".git " as ".git", and GIT~1 as its short name.
	case ".git", "git~1":
		return Git
	case ".jcode", ".claude", ".agents":
		return Agent
	case ".mcp.json":
		return Servers
	case ".husky", ".githooks":
		return Hooks
	}
	return ""
}

// GitFiles returns the parts of git's own folder that decide what git runs, relative to it.
func GitFiles() []string {
	return []string{
		"hooks", "config", "config.worktree", "commondir", "info/attributes", "objects/info/alternates", "rebase-merge/git-rebase-todo", "rebase-apply/git-rebase-todo",
	}
}

// IsGitFolder reports whether git takes a folder with such entries for one of its own, whatever its name.
func IsGitFolder(has func(name string) bool) bool {
	return has("HEAD") && (has("commondir") || has("config") && (has("objects") || has("refs")))
}

// InGitFolder reports whether a file, once it exists, decides what git runs in a folder that git takes for
// its own, whatever its name: also a folder that becomes one by this file.
func InGitFolder(path string) bool {
	dir, name := filepath.Dir(path), filepath.Base(path)
	if filepath.Base(dir) == "hooks" {
		return isGitFolder(filepath.Dir(dir), "")
	}
	switch strings.ToLower(name) {
	case "head", "config", "config.worktree", "commondir", "objects", "refs":
		return isGitFolder(dir, name)
	}
	return false
}

// isGitFolder is IsGitFolder for a folder on disk to which a name is added.
func isGitFolder(dir, added string) bool {
	return IsGitFolder(func(name string) bool {
		if strings.EqualFold(name, added) {
			return true
		}
		_, err := os.Lstat(filepath.Join(dir, name))
		return err == nil
	})
}

// startup returns the names in a home folder that are run at login or by common tools, or that contain keys.
func startup() []string {
	return []string{
		".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".zshrc", ".zshenv", ".zprofile",
		".zlogin", ".zlogout", ".kshrc", ".cshrc", ".tcshrc", ".login", ".logout", ".inputrc", ".xprofile", ".xinitrc", ".xsession",
		".gitconfig", ".npmrc", ".netrc", ".pam_environment", ".ssh", ".gnupg", ".aws",
		".config/fish", ".config/git", ".config/autostart", ".config/environment.d", ".config/systemd",
	}
}

// InHome returns the kind of a path below the home folder, which is relative and has slashes.
func InHome(rel string) Kind {
	if system.MayFoldNames() {
		rel = strings.ToLower(rel)
	}
	for _, name := range startup() {
		if rel == name || strings.HasPrefix(rel, name+"/") {
			return Account
		}
	}
	return ""
}

// StartupFiles returns the paths of a home folder that InHome protects and that exist.
func StartupFiles(home string) []string {
	var out []string
	for _, name := range startup() {
		path := filepath.Join(home, filepath.FromSlash(name))
		if _, err := os.Lstat(path); err == nil {
			out = append(out, path)
		}
	}
	return out
}
