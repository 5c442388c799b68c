package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"jcode/internal/paths"
	"jcode/internal/protected"
)

// Command is the hidden subcommand under which a program that confines commands must call
// Main before it does anything else.
const Command = "sandbox-exec"

// Policy says what a confined command may do. All paths are absolute.
type Policy struct {
	// Roots are the workspace's folders, which may be read and written.
	Roots []string
	// Caches are additional folders that may be written; missing ones are left out.
	Caches []string
	// Cache is a cache folder that only confined commands use: builds work, and what a hostile command leaves
	// there never reaches an unconfined one. It is created if missing. Empty means none.
	Cache string
	// Temp is where commands that may only read get their temporary folders; it is created if missing. Empty
	// means the system's folder.
	Temp string
	// Hidden are files and folders that must not be read: keys, jcode's own data.
	Hidden []string
	// Home is the person's home folder: if it is part of the workspace, its start-up and key files are locked.
	// Empty means none.
	Home string
	// Hooks are additional folders and files in the roots that are run: from which git runs something, and to
	// which start-up files of the account point.
	Hooks []string
	// Protect are patterns of files in the roots that must not be changed, besides git's hooks and configuration
	// and the files that steer an agent (".env").
	Protect []string
	// Network lets commands use the network.
	Network bool
}

// Program is what one program of others may do besides what every confined command may: a plugin's hook, a
// project's server. All paths are absolute.
type Program struct {
	// Read are its own files and folders, which it may read although they are in a hidden folder.
	Read []string
	// Data are folders of its own, which it may write. They are created if missing.
	Data []string
	// Network lets it use the network.
	Network bool
}

// opening is a file or folder inside a hidden one that may be used.
type opening struct {
	Path  string `json:"path"`
	Write bool   `json:"write,omitempty"`
}

// order is what the child is told: the policy resolved for one command.
type order struct {
	Write   []string  `json:"write"`
	Work    []string  `json:"work,omitempty"` // the part that is the workspace: its sockets may be used
	Hidden  []string  `json:"hidden"`
	View    homeView  `json:"view"`              // of the home folder, for reading
	Open    []opening `json:"open,omitempty"`    // parts of what is hidden that may be used
	Pinned  []string  `json:"pinned,omitempty"`  // can't be renamed
	Locked  []string  `json:"locked,omitempty"`  // can't be changed
	Shields bool      `json:"shields,omitempty"` // the child has a mount namespace
	// Processes says that the child is the first process of its own.
	Processes bool `json:"processes,omitempty"`
	NetNS     bool `json:"netns,omitempty"` // and a network of its own
	NoTCP     bool `json:"no_tcp,omitempty"`

	full bool // there are more protected files than are locked
}

// order resolves a policy against the files that exist now. shields says that hidden paths can be covered
// wherever they are. locked are the protected paths, env is the command's environment, r what this program may
// do besides.
func (p Policy) order(shields bool, locked, env []string, r Program) order {
	var o order
	add := func(list []string, path string) []string {
		real, err := paths.Resolve(path)
		if err != nil {
			return list // a loop of links: nothing to protect, nothing to grant
		}
		if _, err := os.Lstat(real); err != nil || slices.Contains(list, real) {
			return list
		}
		return append(list, real)
	}
	for _, root := range p.Roots {
		for _, part := range writableParts(root, p.Home) {
			o.Write = add(o.Write, part)
		}
	}
	for _, dir := range append([]string{os.TempDir()}, p.Caches...) {
		o.Write = add(o.Write, dir)
	}
	if p.Cache != "" {
		o.Write = add(o.Write, p.Cache)
	}
	for _, root := range p.Roots {
		o.Work = add(o.Work, root)
	}
	hidden := append(slices.Clone(p.Hidden), services()...)
	if !p.Network {
		hidden = append(hidden, resolvers()...)
	}
	for _, path := range hidden {
		o.Hidden = add(o.Hidden, path)
	}
	o.View = p.view(env, slices.Concat(r.Read, r.Data)...)
	for _, path := range o.View.Closed {
		if below(path, o.Write) {
			o.Hidden = add(o.Hidden, path) // only a mount keeps it from a command that may write beside it
		}
	}
	// A folder that contains a working folder can't be hidden as a whole.
	o.Hidden = slices.DeleteFunc(o.Hidden, func(hidden string) bool {
		return slices.ContainsFunc(o.Write, func(dir string) bool { return paths.Within(hidden, dir) })
	})
	if shields {
		for _, path := range sockets(o.Work, p.Network) {
			if !below(path, o.Hidden) {
				o.Hidden = add(o.Hidden, path)
			}
		}
	}
	for _, path := range r.Read {
		if real := add(nil, path); real != nil && below(real[0], o.Hidden) {
			o.Open = append(o.Open, opening{Path: real[0]})
		}
	}
	for _, path := range r.Data {
		switch real := add(nil, path); {
		case real == nil:
		case below(real[0], o.Hidden):
			o.Open = append(o.Open, opening{real[0], true})
		default:
			o.Write = add(o.Write, path)
		}
	}
	for _, path := range locked {
		if isPlan(path) && len(runs(path)) == 0 {
			continue // git writes it with each step
		}
		more := add(o.Locked, path)
		if o.full = len(more) > maxLocked; o.full {
			break
		}
		o.Locked = more
		if dir := filepath.Dir(path); protected.Name(filepath.Base(dir)) == protected.Git {
			o.Pinned = add(o.Pinned, dir) // git's folder can't be moved aside for another
		}
	}
	// A work tree's .git is a file that names the real folder: it stays as it is.
	o.Pinned = slices.DeleteFunc(o.Pinned, func(path string) bool {
		info, err := os.Stat(path)
		return err != nil || !info.IsDir()
	})
	return o
}

// maxLocked bounds how many files are locked for one command; the others are checked afterwards.
const maxLocked = 400

// always returns the protected paths of a root whether they exist or not, so that their creation is noticed.
func always(root string) []string {
	var out []string
	for _, name := range []string{".git/hooks", ".git/config", ".git/config.worktree", ".git/commondir", ".jcode", ".claude", ".agents", ".mcp.json"} {
		out = append(out, filepath.Join(root, filepath.FromSlash(name)))
	}
	return out
}

// maxProtected bounds how many files one pattern may match.
const maxProtected = 200

// expand returns the files of a root that a pattern matches, and whether these are all. A pattern without a
// slash matches in the root and up to two folders further down.
func expand(root, pattern string) (files []string, whole bool) {
	if filepath.IsAbs(pattern) {
		return []string{pattern}, true
	}
	if !strings.Contains(pattern, "/") {
		pattern = "{" + pattern + ",*/" + pattern + ",*/*/" + pattern + "}"
	}
	hits, err := doublestar.Glob(os.DirFS(root), pattern, doublestar.WithNoFollow())
	if err != nil {
		return nil, true // the configuration has checked patterns before
	}
	for _, h := range hits[:min(len(hits), maxProtected)] {
		files = append(files, filepath.Join(root, filepath.FromSlash(h)))
	}
	return files, len(hits) <= maxProtected
}

// encode writes an order as one argument.
func (o order) encode() (string, error) {
	b, err := json.Marshal(o)
	return string(b), err
}

func decode(s string) (o order, err error) {
	if err := json.Unmarshal([]byte(s), &o); err != nil {
		return o, fmt.Errorf("read sandbox order: %w", err)
	}
	if len(o.Write) == 0 {
		return o, errors.New("read sandbox order: no folder may be written")
	}
	return o, nil
}

// Report says what this machine supports.
type Report struct {
	// Available says whether commands can be confined at all.
	Available bool
	// Landlock is the kernel's version of that interface, 0 for none.
	Landlock int
	// Shields says whether protected files inside the workspace can be locked, which
	// needs namespaces.
	Shields bool
	// Network says how the network is blocked: "namespace", "tcp" (only TCP) or "" (not).
	Network string
	// Processes says whether commands have processes of their own and see no others.
	Processes bool
	// OthersKept says whether commands are prevented from changing limits and priorities of other processes.
	OthersKept bool
	// Why holds the reasons for what is missing.
	Why []string
}

// Lines describe the report for a person.
func (r Report) Lines() []string {
	if !r.Available {
		return append([]string{"not available on this machine; mode auto asks as mode ask does"}, r.Why...)
	}
	out := []string{fmt.Sprintf("Landlock %d: commands of mode auto write only in the project, the temporary folder and the configured caches", r.Landlock)}
	if r.Shields {
		out = append(out, "everything else is read-only for them, with its rights and times; protected files (git's hooks and configuration, .jcode, start-up files) are locked wherever they lie; they have shared memory and message queues of their own")
	} else {
		out = append(out, "protected files inside the project can't be locked for them; commands that name one ask, and changes are reported afterwards",
			"rights and times of files outside can't be kept from them, nor shared memory of other programs (System V)")
	}
	switch {
	case r.Landlock >= landlockSockets:
	case r.Shields:
		out = append(out, "sockets that another program opens while a command runs can't be kept from it; those that are open before are")
	default:
		out = append(out, "sockets of other programs (a terminal multiplexer, a key agent) can't be kept from them")
	}
	if r.Processes {
		out = append(out, "they see no other processes than their own")
	} else {
		out = append(out, "names and command lines of your other processes can't be kept from them")
	}
	if !r.OthersKept {
		out = append(out, "limits and priorities of your other processes can't be kept from them")
	}
	switch r.Network {
	case "namespace":
		out = append(out, "they can be cut off the network, with a loopback of their own")
	case "tcp":
		out = append(out, "TCP can be cut off, other protocols can't")
	default:
		out = append(out, "the network can't be cut off")
	}
	return append(out, r.Why...)
}

// blame looks for effects of a sandbox in the last part of a failed command's output.
func blame(tail string, code int, network bool) string {
	if code == 0 {
		return ""
	}
	low := strings.ToLower(tail)
	for _, s := range []string{"permission denied", "read-only file system", "operation not permitted", "eacces", "erofs", "eperm"} {
		if strings.Contains(low, s) {
			return "it was denied something outside the project, or a protected file (" + s + "); sandbox.caches in config.json adds folders that commands may write"
		}
	}
	if network {
		return ""
	}
	for _, s := range []string{
		"network is unreachable", "could not resolve host", "temporary failure in name resolution", "name or service not known", "no such host",
		"enetunreach", "eai_again", "connection timed out", "failed to connect", "couldn't connect to server",
	} {
		if strings.Contains(low, s) {
			return noNetwork(s)
		}
	}
	return ""
}

func noNetwork(sign string) string {
	return "it has no network (" + sign + "); sandbox.network in config.json gives it one"
}

// landlockSockets is the first version of Landlock that keeps commands away from sockets of other processes.
const landlockSockets = 9

func unavailable(why string) Report {
	return Report{Why: []string{why + " (" + runtime.GOOS + ")"}}
}
