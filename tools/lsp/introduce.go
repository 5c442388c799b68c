package lsp

import (
	"context"
	"fmt"
	"os"

	"jcode/tools/lsp/protocol"
)

// initialize sends initialize to the server.
func (in *instance) initialize() {
	defer close(in.ready)
	ctx, cancel := context.WithTimeout(in.around.life, startLimit)
	defer cancel()
	var result struct {
		Capabilities protocol.Capabilities `json:"capabilities"`
	}
	err := in.conn.Call(ctx, "initialize", in.introduction(), &result)
	if err == nil {
		err = in.conn.Notify(ctx, "initialized", struct{}{})
	}
	if err == nil {
		// Some servers, such as pyright, do nothing before they get settings, even empty ones.
		current := in.around.settingsFor(in.server, in.root)
		if current == nil {
			current = struct{}{}
		}
		err = in.conn.Notify(ctx, "workspace/didChangeConfiguration", map[string]any{"settings": current})
	}
	if err != nil {
		in.hearOut()
	}
	in.mu.Lock()
	if err == nil {
		in.caps, in.state = result.Capabilities, StateReady
		switch counts := encoding(result.Capabilities.PositionEncoding); counts {
		case "utf-8", "utf-16", "utf-32":
			in.encoding = counts
		}
	} else if in.err == nil && !in.stopping {
		in.state, in.err = StateFailed, fmt.Errorf("it did not introduce itself: %w", err)
	}
	waiting := in.found.debts("")
	in.tell()
	in.mu.Unlock()
	for _, path := range waiting { // it was changed meanwhile; a file that is gone has no answer
		_, _ = in.sync(ctx, path)
	}
	if err != nil {
		_ = in.proc.Stop(context.Background(), stopGrace) // watch handles what is left
	}
}

// introduction returns jcode's parameters of initialize.
func (in *instance) introduction() map[string]any {
	uri := protocol.URI(in.root)
	symbols := map[string]any{"hierarchicalDocumentSymbolSupport": true}
	var parent any // whose end a server watches; a confined one can't, and would think that it has ended
	if !in.permit.Confined {
		parent = os.Getpid()
	}
	return map[string]any{
		"processId":        parent,
		"clientInfo":       map[string]any{"name": "jcode", "version": in.around.version},
		"rootUri":          uri,
		"rootPath":         in.root,
		"workspaceFolders": foldersOf(in.workFolders()),
		// Capabilities that are not declared here are not supported.
		"initializationOptions": in.around.settingsFor(in.server, in.root),
		"capabilities": map[string]any{
			"general": map[string]any{"positionEncodings": []string{"utf-16", "utf-8", "utf-32"}},
			"window":  map[string]any{"workDoneProgress": true},
			"workspace": map[string]any{
				"configuration": true, "workspaceFolders": true, "applyEdit": false,
				"didChangeWatchedFiles":  map[string]any{"dynamicRegistration": true, "relativePatternSupport": true},
				"didChangeConfiguration": map[string]any{"dynamicRegistration": false},
				"symbol":                 map[string]any{},
				"workspaceEdit":          map[string]any{"documentChanges": true},
			},
			"textDocument": map[string]any{
				"synchronization":    map[string]any{"didSave": true},
				"publishDiagnostics": map[string]any{"versionSupport": true},
				"diagnostic":         map[string]any{"dynamicRegistration": true, "relatedDocumentSupport": true},
				"definition":         map[string]any{"linkSupport": true},
				"references":         map[string]any{},
				"hover":              map[string]any{"contentFormat": []string{"plaintext", "markdown"}},
				"documentSymbol":     symbols,
				"rename":             map[string]any{},
				"codeAction": map[string]any{
					"codeActionLiteralSupport": map[string]any{"codeActionKind": map[string]any{"valueSet": []string{"quickfix", "refactor", "source"}}},
					"dataSupport":              true,
					"resolveSupport":           map[string]any{"properties": []string{"edit"}},
				},
			},
		},
	}
}
