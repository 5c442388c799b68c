package lsp

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"jcode/internal/text"
	"jcode/tools/lsp/protocol"
)

// handle answers a server's requests and handles its notifications.
func (in *instance) handle(method string, params json.RawMessage) (any, *protocol.Error) {
	switch method {
	case "textDocument/publishDiagnostics":
		in.published(params)
	case "$/progress":
		in.progress(params)
	case "workspace/diagnostic/refresh":
		in.mu.Lock()
		in.tell()
		in.mu.Unlock()
	case "window/workDoneProgress/create", "workspace/semanticTokens/refresh", "workspace/inlayHint/refresh", "workspace/codeLens/refresh", "workspace/foldingRange/refresh":
	case "client/registerCapability":
		in.registered(params)
	case "client/unregisterCapability":
		in.unregistered(params)
	case "workspace/configuration":
		return in.configuration(params), nil
	case "workspace/workspaceFolders":
		return foldersOf(in.workFolders()), nil
	case "workspace/applyEdit":
		return map[string]any{"applied": false, "failureReason": "jcode changes files only where the user approved it"}, nil
	case "window/showMessageRequest":
		return nil, nil
	case "window/showMessage", "window/logMessage":
		in.logged(method, params)
	default:
		if strings.HasPrefix(method, "$/") || strings.HasPrefix(method, "telemetry/") {
			return nil, nil
		}
		return nil, &protocol.Error{Code: protocol.CodeMethodNotFound, Message: "unknown method " + method}
	}
	return nil, nil
}

// logged keeps a server's messages together with its standard error.
func (in *instance) logged(method string, params json.RawMessage) {
	var p struct {
		Type    int    `json:"type"`
		Message string `json:"message"`
	}
	if json.Unmarshal(params, &p) != nil {
		return
	}
	if p.Type == protocol.SeverityError {
		in.mu.Lock()
		in.complaint = text.Cut(text.OneLine(p.Message), 300)
		in.mu.Unlock()
	}
	if p.Type <= protocol.SeverityWarning || method == "window/showMessage" {
		_, _ = fmt.Fprintf(&in.stderr, "%s\n", text.Cut(p.Message, 1000)) // it never fails
	}
}

// configuration answers each item with the settings of its section.
func (in *instance) configuration(params json.RawMessage) []any {
	var p struct {
		Items []struct {
			Section string `json:"section"`
			Scope   string `json:"scopeUri"`
		} `json:"items"`
	}
	if json.Unmarshal(params, &p) != nil {
		return []any{}
	}
	out := make([]any, len(p.Items))
	for i, item := range p.Items {
		out[i] = in.around.settingsFor(in.server, cmp.Or(protocol.Path(item.Scope), in.root))
		if item.Section == "" || item.Section == in.server.Name {
			continue
		}
		for part := range strings.SplitSeq(item.Section, ".") {
			object, _ := out[i].(settings)
			out[i] = object[part] // null: there is no such setting
		}
	}
	return out
}

// progress records work in progress, such as the loading of packages.
func (in *instance) progress(params json.RawMessage) {
	var p struct {
		Token json.RawMessage `json:"token"`
		Value struct {
			Kind string `json:"kind"`
		} `json:"value"`
	}
	if json.Unmarshal(params, &p) != nil {
		return
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	switch p.Value.Kind {
	case "begin", "report":
		if _, known := in.busy[string(p.Token)]; known || len(in.busy) < 100 {
			in.busy[string(p.Token)] = time.Now()
		}
	case "end":
		delete(in.busy, string(p.Token))
		in.tell()
	}
}
