package netaddr_test

import (
	"net/netip"
	"strings"
	"testing"

	"jcode/internal/netaddr"
)

func TestAddressesOutsideThePublicInternetArePrivate(t *testing.T) {
	t.Parallel()
	private := `127.0.0.1 10.1.2.3 172.16.0.1 192.168.1.1 169.254.169.254 0.0.0.0 0.1.2.3 100.64.0.1 198.18.0.1 198.19.255.255 192.0.0.8 224.0.0.1 240.0.0.1 255.255.255.255
		::1 :: fe80::1 fe80::1%eth0 fec0::1 fc00::1 ff02::1 ::ffff:127.0.0.1 ::7f00:1 64:ff9b::7f00:1 2002:7f00:1:: 2001:0:1::1`
	for _, s := range strings.Fields(private) {
		if !netaddr.Private(netip.MustParseAddr(s)) {
			t.Errorf("%s counts as public", s)
		}
	}
	if !netaddr.Private(netip.Addr{}) {
		t.Error("no address counts as public")
	}
	for _, s := range strings.Fields("1.1.1.1 100.128.0.1 198.20.0.1 192.0.1.1 2606:4700::1111 ::ffff:1.1.1.1 64:ff9b::101:101 2002:101:101::") {
		if netaddr.Private(netip.MustParseAddr(s)) {
			t.Errorf("%s counts as private", s)
		}
	}
}

func TestNamesThatNoPublicServerHasArePrivate(t *testing.T) {
	t.Parallel()
	for _, s := range strings.Fields("localhost x.localhost printer nas.local db.internal 127.1 0x7f.1 2130706433 127.0.0.1") {
		if !netaddr.PrivateHost(s) {
			t.Errorf("%s counts as public", s)
		}
	}
	for _, s := range strings.Fields("example.com 1.1.1.1 a.b.io 3com.com") {
		if netaddr.PrivateHost(s) {
			t.Errorf("%s counts as private", s)
		}
	}
}
