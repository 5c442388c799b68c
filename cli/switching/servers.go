package switching

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"jcode/internal/pattern"
	"jcode/internal/text"
	mcpconfig "jcode/mcp/config"
)

// serverList offers the servers that there are not yet. Keys that jcode's own file knows by the same name are kept as
// they are.
func (f *finder) serverList(list object, from string) {
	for _, theirs := range sorted(list) {
		name := mcpconfig.KeyFor(theirs)
		entry, ok := list[theirs].(object)
		if f.servers[name] {
			continue
		}
		if !ok {
			f.refuse(Server, name, from, "it is not in the form of a server")
			continue
		}
		if _, only := entry["enabled"]; only && len(entry) == 1 {
			continue // it switches a server off that another file has
		}
		if err := f.server(name, entry, from); err != nil {
			f.refuse(Server, name, from, "%v", err)
		}
	}
}

func (f *finder) server(name string, theirs object, from string) error {
	converted, err := convert(theirs)
	if err != nil {
		return err
	}
	raw, err := json.Marshal(converted)
	if err != nil {
		return err
	}
	entry, err := mcpconfig.ParseJSON(name, raw)
	if err != nil {
		return err
	}
	shown := mcpconfig.Mask(entry.Target)
	kept := 0 // values that are no variables
	if shown.Line() != entry.Target.Line() {
		kept++
	}
	for _, m := range []map[string]string{shown.Env, shown.Headers} {
		for key, value := range m {
			if value != entry.Target.Env[key] && value != entry.Target.Headers[key] {
				kept++
			}
		}
	}
	if kept > 0 && f.project {
		return fmt.Errorf("it has %s that may be secret in a file of the project: add it with jcode mcp add, and write ${VARIABLE} instead", text.Count(kept, "value"))
	}
	does := "add the server: " + shown.Line()
	if kept > 0 {
		does += " (not shown: " + text.Count(kept, "value") + ")"
	}
	if !entry.Enabled {
		does += " (switched off)"
	}
	project := f.project
	f.offer(Server, name, from, does, func(context.Context) error {
		_, err := f.Servers.AddServerJSON(name, raw, mcpconfig.AddOptions{Project: project})
		return err
	})
	return nil
}

// convert returns an entry in the form of jcode's file.
func convert(theirs object) (object, error) {
	out := maps.Clone(theirs)
	switch out["type"] {
	case "local", "remote":
		delete(out, "type")
	}
	delete(out, "trusted") // trust is a question of jcode's own
	delete(out, "trust")
	if _, is := out["oauth"].(bool); is {
		delete(out, "oauth") // jcode finds out itself whether a server wants a sign-in
	}
	for _, key := range []string{"oauth_token", "oauth_client_id", "oauth_client_secret", "oauth_callback_port"} {
		delete(out, key)
	}
	if from, ok := out["env_http_headers"].(object); ok {
		headers := object{}
		for _, key := range []string{"headers", "http_headers"} {
			if have, ok := out[key].(object); ok {
				maps.Copy(headers, have)
				delete(out, key)
			}
		}
		for name, variable := range from {
			headers[name] = fmt.Sprintf("${%v}", variable)
		}
		delete(out, "env_http_headers")
		out["headers"] = headers
	}
	value, err := withVariables(out)
	if err != nil {
		return nil, err
	}
	out, _ = value.(object)
	return out, nil
}

var (
	theirVariable = pattern.Lazy(`\{env:([A-Za-z_][A-Za-z0-9_]*)\}`)
	bareVariable  = pattern.Lazy(`\$([A-Za-z_][A-Za-z0-9_]*)`)
)

// withVariables writes variables as jcode does, in all texts.
func withVariables(v any) (any, error) {
	switch v := v.(type) {
	case string:
		if strings.Contains(v, "$(") || strings.Contains(v, "{file:") {
			return nil, fmt.Errorf("it takes a value from a command or a file, which entries here can't: write ${VARIABLE}")
		}
		return bareVariable().ReplaceAllString(theirVariable().ReplaceAllString(v, "$${$1}"), "$${$1}"), nil
	case []any:
		out := slices.Clone(v)
		for i := range out {
			var err error
			if out[i], err = withVariables(out[i]); err != nil {
				return nil, err
			}
		}
		return out, nil
	case object:
		out := maps.Clone(v)
		for key := range out {
			var err error
			if out[key], err = withVariables(out[key]); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	return v, nil
}
