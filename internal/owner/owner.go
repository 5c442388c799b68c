// Package owner decides whether a file is from somebody whose files may steer this process: the user who runs
// it, as git decides it for repositories. On a machine with several people, anyone can make files in folders
// above and beside those of the others.
//
// It must not know what the files are for.
package owner

import (
	"context"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"jcode/internal/launch"
	"jcode/internal/paths"
	"jcode/internal/system"
)

// Rules say whose files count.
type Rules struct {
	// UID is the user of this process, Sudo the one who became root for it, -1 for nobody.
	UID, Sudo int
	// Container says that this process runs in a container, where files of the user outside have any owner.
	Container bool
	// Safe returns the folders that the person's own git configuration calls safe. Nil means none.
	Safe func() []string
}

// Here returns the rules for this process.
func Here() Rules {
	r := Rules{UID: os.Geteuid(), Sudo: -1, Safe: safeFolders}
	if id, err := strconv.Atoi(os.Getenv("SUDO_UID")); err == nil && r.UID == 0 {
		r.Sudo = id
	}
	for _, mark := range []string{"/.dockerenv", "/run/.containerenv"} {
		if _, err := os.Lstat(mark); err == nil {
			r.Container = true
		}
	}
	if os.Getenv("container") != "" || os.Getenv("KUBERNETES_SERVICE_HOST") != "" {
		r.Container = true
	}
	return r
}

// Whose returns the name of the user to whom a file belongs, "" if it may steer this process. A file that can't
// be looked at belongs to nobody.
func (r Rules) Whose(path string) string {
	info, err := os.Lstat(path)
	if err != nil {
		return ""
	}
	id, known := ownerOf(info)
	if !known || id == r.UID || id == r.Sudo {
		return ""
	}
	u, err := user.LookupId(strconv.Itoa(id))
	if r.Container && (id == 0 || err != nil || mounted(path)) {
		return ""
	}
	if err != nil {
		return "the user " + strconv.Itoa(id)
	}
	return "the user " + u.Username
}

// Repository returns the name of the other user to whom a repository belongs, given the folder with its .git; ""
// if it may be used.
func (r Rules) Repository(top string) string {
	name := filepath.Join(top, ".git")
	for _, path := range []string{top, name, pointed(name)} {
		if whose := r.Whose(path); path != "" && whose != "" && !r.safe(top) {
			return whose
		}
	}
	return ""
}

// pointed returns the folder that a .git file names, "" for none.
func pointed(name string) string {
	info, err := os.Lstat(name)
	if err != nil || info.IsDir() {
		return ""
	}
	if info.Mode().IsRegular() && info.Size() < 1<<16 {
		data, err := paths.ReadFile(name, 1<<16)
		if to, ok := strings.CutPrefix(strings.TrimSpace(string(data)), "gitdir: "); ok && err == nil {
			if !filepath.IsAbs(to) {
				to = filepath.Join(filepath.Dir(name), to)
			}
			return paths.Real(to)
		}
	}
	return paths.Real(name)
}

// safe reports whether the person's own configuration calls a folder safe, in git's words.
func (r Rules) safe(top string) bool {
	if r.Safe == nil {
		return false
	}
	ok := false
	for _, dir := range r.Safe() {
		prefix, all := strings.CutSuffix(dir, "/*")
		switch {
		case dir == "":
			ok = false // git forgets what came before
		case dir == "*", dir == top, paths.Real(dir) == paths.Real(top), all && paths.Within(paths.Real(prefix), paths.Real(top)):
			ok = true
		}
	}
	return ok
}

// safeFolders asks git, which takes this setting from nowhere but the person's and the machine's configuration.
func safeFolders() (all []string) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	for _, scope := range []string{"--system", "--global"} {
		cmd, err := (launch.Git{}).Command(ctx, string(filepath.Separator), "config", scope, "--null", "--type=path", "--get-all", "safe.directory")
		if err != nil {
			return all
		}
		out, err := cmd.Output()
		if err != nil {
			continue // nothing is set
		}
		all = append(all, strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")...)
	}
	return all
}

// mounted reports whether a file lies in a folder that was mounted into this container.
func mounted(path string) bool {
	real := paths.Real(path)
	for _, dir := range append(system.TempFolders(), os.TempDir()) {
		if paths.Within(paths.Real(dir), real) {
			return false // everybody's
		}
	}
	info, err := os.Lstat(real)
	root, rootErr := os.Lstat(string(filepath.Separator))
	return err == nil && rootErr == nil && device(info) != device(root)
}
