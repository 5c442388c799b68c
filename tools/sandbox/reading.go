package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"jcode/internal/launch"
	"jcode/internal/paths"
	"jcode/internal/proc"
)

// Reading says what a command may read that runs unasked because it only reads. It may write only to a
// private temporary folder.
type Reading struct {
	// Only are the files of the workspace that it may read; nil means all.
	Only []string
	// Hidden are additional files that it must not read.
	Hidden []string
	// Beyond are additional folders outside the workspace that it may read.
	Beyond []string
}

// CanRead reports whether commands can be confined to reading here; if not, why says the reason.
func (b *Box) CanRead() (ok bool, why string) { return b.reads() }

// ConfineToReading returns what to start instead of spec, so that its command can only read: the workspace,
// the system's folders and the person's tools, except what is hidden. It has no network, no sockets, can't
// signal other processes, and starts programs only from the system's folders and those of PATH outside the
// workspace. done, called after the command's end, removes its temporary folder.
func (b *Box) ConfineToReading(spec proc.Spec, r Reading) (confined proc.Spec, done func() error, err error) {
	if ok, why := b.reads(); !ok {
		return spec, nil, errors.New("confine command to reading: " + why)
	}
	policy := b.policy()
	spec.Env = launch.Outside(spec.Env, policy.Roots)
	if policy.Temp != "" {
		if err := os.MkdirAll(policy.Temp, 0o700); err != nil {
			return spec, nil, fmt.Errorf("confine command to reading: %w", err)
		}
	}
	temp, err := os.MkdirTemp(policy.Temp, "jcode-read-")
	if err != nil {
		return spec, nil, fmt.Errorf("confine command to reading: %w", err)
	}
	spec.Env = append(slices.DeleteFunc(spec.Env, func(kv string) bool { return leadsOut(kv) || strings.HasPrefix(kv, "TMPDIR=") }), "TMPDIR="+temp)
	rules, err := b.rules(policy, r, spec.Env, temp)
	if err != nil {
		return spec, nil, errors.Join(err, os.RemoveAll(temp))
	}
	spec.Confine = rules.enter
	return spec, func() error { rules.release(); return os.RemoveAll(temp) }, nil
}

// maxRulesAge bounds how long a set of rules is reused: it refers to files as they were when it was made.
const maxRulesAge = time.Minute

// cachedRules is the most recent set of rules, and what it is for.
type cachedRules struct {
	mu    sync.Mutex
	key   string
	made  time.Time
	rules *rules
}

// rules returns a set of rules that the caller must release. Building one takes a millisecond or two, so the
// last one is reused if the folder of temporary files is always the same.
func (b *Box) rules(p Policy, r Reading, env []string, temp string) (*rules, error) {
	if p.Temp == "" {
		return newRules(p.reading(r, env, temp))
	}
	key := fmt.Sprintf("%q", []any{p.Roots, p.Hidden, p.Temp, r, variable(env, "PATH"), variable(env, "HOME")})
	c := &b.cached
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.rules == nil || c.key != key || time.Since(c.made) > maxRulesAge {
		fresh, err := newRules(p.reading(r, env, p.Temp))
		if err != nil {
			return nil, err
		}
		if c.rules != nil {
			c.rules.release()
		}
		c.rules, c.key, c.made = fresh, key, time.Now()
	}
	c.rules.hold()
	return c.rules, nil
}

// rules is a set of rules shared by several commands; the last one to release it closes it.
type rules struct {
	fd    int
	users atomic.Int32
}

func (r *rules) hold() { r.users.Add(1) }

func (r *rules) release() {
	if r.users.Add(-1) == 0 {
		closeRules(r.fd)
	}
}

func newRules(from readable) (*rules, error) {
	fd, err := ruleset(from)
	if err != nil {
		return nil, fmt.Errorf("confine command to reading: %w", err)
	}
	r := &rules{fd: fd}
	r.hold()
	return r, nil
}

// enter confines the calling thread.
func (r *rules) enter() error {
	if err := enterReading(r.fd); err != nil {
		return fmt.Errorf("confine command to reading: %w", err)
	}
	return nil
}

func resolveAll(list []string) []string {
	out := make([]string, 0, len(list))
	for _, p := range list {
		if real, err := paths.Resolve(p); err == nil {
			out = append(out, real)
		}
	}
	return out
}

// readable is a resolved policy for reading: resolved paths.
type readable struct {
	read, run []string // files and folders that may be read, and from which programs may be started
	hidden    []string
	temp      string
}

// systemFolders contain programs and what they need. What only root should read in them is hidden.
var systemFolders = [...]string{
	"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix", "/gnu", "/snap", "/home/linuxbrew/.linuxbrew", "/run/current-system", "/run/wrappers",
}

// systemFiles may be read as well. Terminals are not among them.
var systemFiles = [...]string{
	"/etc", "/proc", "/sys", "/run/utmp", "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom",
}

// reading computes what a command may read. In the home folder these are tools in hidden folders and in those
// of PATH, not documents.
func (p Policy) reading(r Reading, env []string, temp string) readable {
	out := readable{temp: temp}
	roots, home := resolveAll(p.Roots), variable(env, "HOME")
	for _, path := range resolveAll(slices.Concat(p.Hidden, r.Hidden, rootsOwn(), p.view(env).private())) {
		// A folder that contains a working folder can't be hidden as a whole.
		if !slices.ContainsFunc(roots, func(root string) bool { return paths.Within(path, root) }) {
			out.hidden = append(out.hidden, path)
		}
	}
	add := func(list *[]string, path string) {
		real, err := paths.Resolve(path)
		if err == nil && real != "/" && !slices.Contains(*list, real) && (!below(real, out.hidden) || slices.Contains(roots, real)) {
			*list = append(*list, real)
		}
	}
	for _, dir := range systemFolders {
		add(&out.run, dir)
	}
	for _, dir := range filepath.SplitList(variable(env, "PATH")) {
		add(&out.run, dir)
		if prefix := filepath.Dir(dir); filepath.Base(dir) == "bin" && filepath.Base(prefix) != ".local" && prefix != home && !slices.ContainsFunc(roots, func(root string) bool { return paths.Within(prefix, root) }) {
			add(&out.read, prefix) // libraries of what is installed there
		}
		for _, target := range linked(dir) {
			if !below(target, roots) {
				add(&out.run, target)
			}
		}
	}
	for _, path := range systemFiles {
		add(&out.read, path)
	}
	if entries, err := os.ReadDir(home); home != "" && err == nil {
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), ".") {
				add(&out.read, filepath.Join(home, e.Name()))
			}
		}
	}
	own := r.Only
	if own == nil {
		own = p.Roots
	}
	for _, path := range slices.Concat(own, r.Beyond) {
		add(&out.read, path)
	}
	return out
}

// rootsOwn are files that only root can read; commands that a jcode running as root starts can't.
func rootsOwn() []string {
	if os.Geteuid() != 0 {
		return nil
	}
	return []string{"/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers", "/etc/sudoers.d", "/etc/ssl/private"}
}

// variable returns the value of a variable of an environment, "" for none.
func variable(env []string, name string) (value string) {
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			value = v
		}
	}
	return value
}

// linked returns the targets of a folder's links that are outside the system's folders: a tool that a version
// manager keeps elsewhere.
func linked(dir string) (out []string) {
	if below(dir, systemFolders[:]) {
		return nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if e.Type()&os.ModeSymlink == 0 || len(out) >= 200 {
			continue
		}
		if real, err := filepath.EvalSymlinks(filepath.Join(dir, e.Name())); err == nil && !below(real, systemFolders[:]) {
			out = append(out, real)
		}
	}
	return out
}
