// Package netaddr distinguishes addresses of the public internet from all others. It is the one
// owner of that fact: the gate, fetch and Lua use it.
package netaddr

import (
	"net"
	"net/netip"
	"strings"
)

// PrivateHost reports whether a host is private by its name alone: a private address, or a name
// that no public server has.
func PrivateHost(host string) bool {
	if ip, err := netip.ParseAddr(host); err == nil {
		return Private(ip)
	}
	if net.ParseIP(host) != nil || host == "localhost" || !strings.Contains(host, ".") {
		return true
	}
	for _, suffix := range []string{".localhost", ".local", ".internal", ".lan", ".home.arpa", ".intranet", ".corp", ".home"} {
		if strings.HasSuffix(host, suffix) {
			return true
		}
	}
	// 127.1, 0x7f.1 and 2130706433 are addresses to some resolvers.
	return strings.Trim(host, "0123456789abcdefx.") == "" && (host[0] >= '0' && host[0] <= '9') && !strings.ContainsAny(host[strings.LastIndexByte(host, '.')+1:], "ghijklmnopqrstuvwyz")
}

// Private reports whether an address is not one of the public internet: loopback,
// link-local, private, shared, multicast or unspecified, also inside IPv6 forms of IPv4.
func Private(ip netip.Addr) bool {
	ip = ip.Unmap().WithZone("")
	if !ip.IsValid() || ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast() || ip.IsMulticast() || ip.IsUnspecified() || ip.IsInterfaceLocalMulticast() {
		return true
	}
	if ip.Is4() {
		b := ip.As4()
		switch {
		case b[0] == 0, b[0] == 100 && b[1]&0xc0 == 64, b[0] >= 240, b[0] == 192 && b[1] == 0 && b[2] == 0, b[0] == 198 && b[1]&0xfe == 18:
			return true
		}
		return false
	}
	b := ip.As16()
	switch {
	case b[0] == 0x00 && b[1] == 0x64 && b[2] == 0xff && b[3] == 0x9b: // NAT64
		return Private(netip.AddrFrom4([4]byte(b[12:16])))
	case b[0] == 0x20 && b[1] == 0x02: // 6to4
		return Private(netip.AddrFrom4([4]byte(b[2:6])))
	case b[0] == 0x20 && b[1] == 0x01 && b[2] == 0 && b[3] == 0: // Teredo
		return true
	case [12]byte(b[:12]) == [12]byte{}: // IPv4-compatible
		return Private(netip.AddrFrom4([4]byte(b[12:16])))
	}
	return b[0] == 0xfe && b[1]&0xc0 == 0xc0 // site-local
}

// LoopbackHost reports whether a host is this machine, judged by its name alone.
func LoopbackHost(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}
