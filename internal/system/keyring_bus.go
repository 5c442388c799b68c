//go:build !darwin && !windows

package system

import (
	"errors"
	"net"
	"strings"

	"github.com/godbus/dbus/v5"
)

// lacksKeyring reports whether the bus can't be reached, or nothing on it keeps secrets.
func lacksKeyring(err error) bool {
	if _, unreachable := errors.AsType[*net.OpError](err); unreachable {
		return true
	}
	said, ok := errors.AsType[dbus.Error](err)
	return ok && (said.Name == "org.freedesktop.DBus.Error.ServiceUnknown" || said.Name == "org.freedesktop.DBus.Error.NameHasNoOwner" ||
		strings.HasPrefix(said.Name, "org.freedesktop.DBus.Error.Spawn."))
}
