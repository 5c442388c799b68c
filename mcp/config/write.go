package config

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/tailscale/hujson"

	"jcode/internal/jsonedit"
)

// errExists is returned when a server of that name is already in the file.
var errExists = errors.New("exists already")

// errMissing is returned when the file has no such server.
var errMissing = errors.New("is not in the file")

// serversKey returns the member that holds a server of that name, or new ones.
func serversKey(root *hujson.Object, name string) string {
	for _, key := range []string{"mcpServers", "servers"} {
		if m := member(root, key); m != nil {
			if o, ok := m.Value.Value.(*hujson.Object); ok && member(o, name) != nil {
				return key
			}
		}
	}
	if member(root, "mcpServers") == nil && member(root, "servers") != nil {
		return "servers"
	}
	return "mcpServers"
}

// putServer adds or, with force, replaces a server.
func putServer(path, name string, value json.RawMessage, force bool) error {
	return jsonedit.Edit(path, func(top *hujson.Object) error {
		key := serversKey(top, name)
		if m := member(top, key); m != nil {
			if o, ok := m.Value.Value.(*hujson.Object); ok && member(o, name) != nil && !force {
				return fmt.Errorf("server %s %w in %s (use --force to replace it)", name, errExists, path)
			}
		}
		return jsonedit.Set(top, []string{key, name}, value)
	})
}

// dropServer removes a server.
func dropServer(path, name string) error {
	return jsonedit.Edit(path, func(top *hujson.Object) error {
		if m := member(top, serversKey(top, name)); m != nil {
			if o, ok := m.Value.Value.(*hujson.Object); ok && jsonedit.Delete(o, name) {
				return nil
			}
		}
		return fmt.Errorf("server %s %w %s", name, errMissing, path)
	})
}

// putEnabled switches a server of the file on or off.
func putEnabled(path, name string, enabled bool) error {
	return jsonedit.Edit(path, func(top *hujson.Object) error {
		key := serversKey(top, name)
		servers := member(top, key)
		if servers == nil {
			return fmt.Errorf("server %s %w %s", name, errMissing, path)
		}
		o, ok := servers.Value.Value.(*hujson.Object)
		if !ok || member(o, name) == nil {
			return fmt.Errorf("server %s %w %s", name, errMissing, path)
		}
		if entry, ok := member(o, name).Value.Value.(*hujson.Object); ok && member(entry, "disabled") != nil {
			return jsonedit.Set(top, []string{key, name, "disabled"}, boolJSON(!enabled))
		}
		return jsonedit.Set(top, []string{key, name, "enabled"}, boolJSON(enabled))
	})
}

// putOverride switches an imported server on or off in the person's own file.
func putOverride(path, name string, enabled bool) error {
	return jsonedit.Edit(path, func(top *hujson.Object) error {
		return jsonedit.Set(top, []string{"overrides", name, "enabled"}, boolJSON(enabled))
	})
}

func boolJSON(b bool) json.RawMessage {
	if b {
		return json.RawMessage("true")
	}
	return json.RawMessage("false")
}
