package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"jcode/internal/proc"
)

// Box confines commands by a policy. It is safe for concurrent use.
type Box struct {
	self   string
	policy func() Policy
	probed func() Report
	reads  func() (bool, string)
	cached cachedRules
	index  index

	gap  func(Gap) // may be nil
	told sync.Map  // the gaps that it was called with
}

// New returns a box. self is the program whose Main is called with Command, usually the running one; policy
// returns the policy in force. Nothing is probed before it is needed.
func New(self string, policy func() Policy) *Box {
	return &Box{self: self, policy: policy, index: index{most: maxFolders}, probed: sync.OnceValue(func() Report { return probe(self) }), reads: sync.OnceValues(canRead)}
}

// Report says what this machine supports; it probes once.
func (b *Box) Report() Report { return b.probed() }

// Available reports whether commands can be confined.
func (b *Box) Available() bool { return b.probed().Available }

// Confine returns what to start instead of spec, so that its command runs confined, and a snapshot of the
// protected files and folders that it may still create or change: what does not exist can't be locked, and
// some machines can't lock anything.
func (b *Box) Confine(spec proc.Spec) (confined proc.Spec, before Watched, err error) {
	return b.ConfineProgram(spec, Program{})
}

// ConfineProgram is Confine for a program of others, with its own rights.
func (b *Box) ConfineProgram(spec proc.Spec, r Program) (confined proc.Spec, before Watched, err error) {
	report := b.probed()
	if !report.Available {
		return spec, before, errors.New("confine command: there is no sandbox on this machine")
	}
	policy := b.policy()
	policy.Network = policy.Network || r.Network
	for _, dir := range r.Data {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return spec, before, fmt.Errorf("confine command: %w", err)
		}
	}
	if policy.Cache != "" {
		if err := os.MkdirAll(policy.Cache, 0o700); err != nil {
			return spec, before, fmt.Errorf("confine command: %w", err)
		}
		spec.Env = append(slices.Clip(spec.Env), cacheEnv(policy.Cache)...)
	}
	protected := policy.steering(&b.index)
	before = policy.mark(&b.index, protected, report.Shields)
	spec.Env = slices.DeleteFunc(slices.Clone(spec.Env), leadsOut)
	o := policy.order(report.Shields, protected.paths, spec.Env, r)
	b.tell(b.gaps(protected, o))
	o.Shields, o.Processes = report.Shields, report.Shields && report.Processes
	if !policy.Network {
		o.NetNS = report.Network == "namespace"
		o.NoTCP = report.Network == "tcp"
	}
	arg, err := o.encode()
	if err != nil {
		return spec, before, err
	}
	spec.Argv = append([]string{b.self, Command, arg}, spec.Argv...)
	spec.Namespaces, spec.OwnNetwork, spec.OwnProcesses = o.Shields || o.NetNS, o.NetNS, o.Processes
	return spec, before, nil
}

// Watch takes a snapshot of the protected files, for a command that runs unconfined.
func (b *Box) Watch() Watched {
	policy := b.policy()
	all := policy.steering(&b.index)
	b.tell(all.gaps)
	return policy.mark(&b.index, all, false)
}

// leadsOut reports whether a variable points programs to a service outside, which a confined command must not
// use and is better not told of.
func leadsOut(kv string) bool {
	name, _, _ := strings.Cut(kv, "=")
	switch name {
	case "SSH_AUTH_SOCK", "SSH_AGENT_PID", "GPG_AGENT_INFO", "DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "TMUX", "TMUX_PANE", "STY",
		"NVIM", "NVIM_LISTEN_ADDRESS", "KITTY_LISTEN_ON", "WEZTERM_UNIX_SOCKET", "VSCODE_IPC_HOOK_CLI", "DOCKER_HOST", "CONTAINER_HOST":
		return true
	}
	return false
}

// cacheEnv points the usual tools to a separate cache. Programs that follow the XDG rules need only the first
// variable.
func cacheEnv(dir string) []string {
	return []string{
		"XDG_CACHE_HOME=" + dir,
		"GOCACHE=" + filepath.Join(dir, "go-build"),
		"npm_config_cache=" + filepath.Join(dir, "npm"),
		"PIP_CACHE_DIR=" + filepath.Join(dir, "pip"),
	}
}

// BlamedProgram is Blamed for a program with rights of its own.
func (b *Box) BlamedProgram(tail string, code int, r Program) string {
	network := r.Network || b.policy().Network
	why := blame(tail, code, network)
	if why != "" || network {
		return why
	}
	low := strings.ToLower(tail)
	for _, s := range []string{"fetch failed", "econnrefused", "connection refused"} { // its own loopback has nobody
		if strings.Contains(low, s) {
			return noNetwork(s)
		}
	}
	return ""
}

// Blamed says why the failure of a confined command looks like an effect of the sandbox; "" when it doesn't.
func (b *Box) Blamed(tail string, code int) string { return blame(tail, code, b.policy().Network) }
