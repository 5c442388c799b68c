package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

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
		if hasServer(root, key, name) {
			return key
		}
	}
	if jsonedit.Member(root, "mcpServers") == nil && jsonedit.Member(root, "servers") != nil {
		return "servers"
	}
	return "mcpServers"
}

func hasServer(root *hujson.Object, key, name string) bool {
	servers := child(root, key)
	return servers != nil && jsonedit.Member(servers, name) != nil
}

// putServer adds or, with force, replaces a server.
func putServer(path, name string, value json.RawMessage, force bool) error {
	return jsonedit.Edit(path, func(top *hujson.Object) error {
		key := serversKey(top, name)
		if !force && hasServer(top, key, name) {
			return fmt.Errorf("server %s %w in %s (use --force to replace it)", name, errExists, path)
		}
		return jsonedit.Set(top, []string{key, name}, value)
	})
}

// dropServer removes a server.
func dropServer(path, name string) error {
	return jsonedit.Edit(path, func(top *hujson.Object) error {
		if servers := child(top, serversKey(top, name)); servers != nil && jsonedit.Delete(servers, name) {
			return nil
		}
		return fmt.Errorf("server %s %w %s", name, errMissing, path)
	})
}

// putEnabled switches a server of the file on or off.
func putEnabled(path, name string, enabled bool) error {
	return jsonedit.Edit(path, func(top *hujson.Object) error {
		key := serversKey(top, name)
		if !hasServer(top, key, name) {
			return fmt.Errorf("server %s %w %s", name, errMissing, path)
		}
		if entry := child(child(top, key), name); entry != nil && jsonedit.Member(entry, "disabled") != nil {
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

func boolJSON(b bool) json.RawMessage { return json.RawMessage(strconv.FormatBool(b)) }
