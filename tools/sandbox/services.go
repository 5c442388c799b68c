package sandbox

import (
	"fmt"
	"os"
	"strings"

	"jcode/internal/paths"
)

// services are sockets through which a command could let others act for it: containers, the session's
// services and the system's.
func services() []string {
	return []string{
		fmt.Sprintf("/run/user/%d", os.Getuid()), "/run/docker.sock", "/var/run/docker.sock", "/run/podman/podman.sock", "/run/containerd/containerd.sock",
		"/run/crio/crio.sock", "/run/buildkit/buildkitd.sock", "/run/libvirt", "/var/lib/incus/unix.socket", "/var/snap/lxd/common/lxd/unix.socket",
		"/run/dbus/system_bus_socket", "/run/systemd/private", "/run/screen",
	}
}

// resolvers are sockets of services that look up names on the network.
func resolvers() []string {
	return []string{"/run/systemd/resolve/io.systemd.Resolve", "/run/nscd/socket", "/var/run/nscd/socket", "/run/avahi-daemon/socket"}
}

// sockets finds the sockets of running programs: that of a terminal multiplexer, an editor or a key agent
// lets anyone who can connect act outside the sandbox. Those in the workspace are the project's own. If
// commands may use the network, services of the system stay reachable, too.
func sockets(work []string, network bool) (out []string) {
	data, err := os.ReadFile("/proc/net/unix")
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(data)) {
		i := strings.IndexByte(line, '/')
		if i < 0 {
			continue // unnamed, or its name is not a file
		}
		path := strings.TrimSuffix(line[i:], "\n")
		if network && (strings.HasPrefix(path, "/run/") || strings.HasPrefix(path, "/var/run/")) {
			continue
		}
		if real, err := paths.Resolve(path); err == nil && !below(real, work) {
			out = append(out, real)
		}
	}
	return out
}

// below reports whether a path is one of the folders or is inside one.
func below(path string, dirs []string) bool {
	for _, dir := range dirs {
		if paths.Within(dir, path) {
			return true
		}
	}
	return false
}

// holds reports whether one of the paths is dir or below it.
func holds(dir string, list []string) bool {
	for _, p := range list {
		if p == dir || strings.HasPrefix(p, strings.TrimSuffix(dir, "/")+"/") {
			return true
		}
	}
	return false
}

func isHidden(path string, hidden []string) bool {
	for _, h := range hidden {
		if h == path {
			return true
		}
	}
	return false
}
