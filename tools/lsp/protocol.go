package lsp

import (
	"encoding/json"
	"net/url"
	"path/filepath"
	"strings"

	"jcode/internal/system"
)

// The types of the Language Server Protocol that jcode uses: a small part, written by hand,
// with its field names. Positions count lines from 0 and characters in UTF-16 units, unless
// the server agreed on UTF-8.

type position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

type span struct {
	Start position `json:"start"`
	End   position `json:"end"`
}

type location struct {
	URI   string `json:"uri"`
	Range span   `json:"range"`
}

type locationLink struct {
	TargetURI   string `json:"targetUri"`
	TargetRange span   `json:"targetSelectionRange"`
}

type textDocument struct {
	URI string `json:"uri"`
}

type versionedDocument struct {
	URI     string `json:"uri"`
	Version int    `json:"version"`
}

type textEdit struct {
	Range   span   `json:"range"`
	NewText string `json:"newText"`
}

type workspaceEdit struct {
	Changes         map[string][]textEdit `json:"changes"`
	DocumentChanges []documentChange      `json:"documentChanges"`
}

// documentChange is the edits of one document, or, if Kind is set, a file to create, rename or
// delete.
type documentChange struct {
	Kind         string            `json:"kind"`
	TextDocument versionedDocument `json:"textDocument"`
	Edits        []textEdit        `json:"edits"`
}

// The severities of diagnostics.
const (
	severityError   = 1
	severityWarning = 2
)

type diagnostic struct {
	Range    span            `json:"range"`
	Severity int             `json:"severity"`
	Code     json.RawMessage `json:"code,omitempty"`
	Source   string          `json:"source,omitempty"`
	Message  string          `json:"message"`
}

type publishedDiagnostics struct {
	URI         string       `json:"uri"`
	Version     *int         `json:"version"`
	Diagnostics []diagnostic `json:"diagnostics"`
}

// pulledDiagnostics is the answer to textDocument/diagnostic.
type pulledDiagnostics struct {
	Kind    string                       `json:"kind"`
	Items   []diagnostic                 `json:"items"`
	Related map[string]pulledDiagnostics `json:"relatedDocuments"`
}

type symbolInformation struct {
	Name          string   `json:"name"`
	Kind          int      `json:"kind"`
	Location      location `json:"location"`
	ContainerName string   `json:"containerName"`
}

type documentSymbol struct {
	Name           string           `json:"name"`
	Kind           int              `json:"kind"`
	Range          span             `json:"range"`
	SelectionRange span             `json:"selectionRange"`
	Children       []documentSymbol `json:"children"`
	// Location is set instead by servers that use the older form.
	Location *location `json:"location"`
}

type codeAction struct {
	Title    string          `json:"title"`
	Kind     string          `json:"kind,omitempty"`
	Edit     *workspaceEdit  `json:"edit,omitempty"`
	Command  json.RawMessage `json:"command,omitempty"`
	Data     json.RawMessage `json:"data,omitempty"`
	Disabled *struct {
		Reason string `json:"reason"`
	} `json:"disabled,omitempty"`
}

// capabilities is what a server declares. Providers are `true`, an object, or absent.
type capabilities struct {
	Workspace struct {
		Folders folderSupport `json:"workspaceFolders"`
	} `json:"workspace"`
	PositionEncoding   string          `json:"positionEncoding"`
	Definition         json.RawMessage `json:"definitionProvider"`
	References         json.RawMessage `json:"referencesProvider"`
	Hover              json.RawMessage `json:"hoverProvider"`
	DocumentSymbol     json.RawMessage `json:"documentSymbolProvider"`
	WorkspaceSymbol    json.RawMessage `json:"workspaceSymbolProvider"`
	Rename             json.RawMessage `json:"renameProvider"`
	CodeAction         json.RawMessage `json:"codeActionProvider"`
	DocumentDiagnostic json.RawMessage `json:"diagnosticProvider"`
}

// pullsTogether reports whether a change of one file may change what is reported of others when asked.
func (c capabilities) pullsTogether() bool {
	var options struct {
		Together *bool `json:"interFileDependencies"`
	}
	return json.Unmarshal(c.DocumentDiagnostic, &options) != nil || options.Together == nil || *options.Together
}

// provides reports whether a provider is declared.
func provides(raw json.RawMessage) bool {
	s := string(raw)
	return s != "" && s != "null" && s != "false"
}

// symbolKind returns the word for a symbol's kind.
func symbolKind(k int) string {
	names := []string{
		"symbol", "file", "module", "namespace", "package", "class", "method", "property", "field", "constructor", "enum", "interface",
		"function", "variable", "constant", "string", "number", "boolean", "array", "object", "key", "null", "enum member", "struct", "event", "operator", "type parameter",
	}
	if k < 0 || k >= len(names) {
		k = 0
	}
	return names[k]
}

// uriOf returns the file URI of an absolute path.
func uriOf(path string) string {
	p := filepath.ToSlash(path)
	if !strings.HasPrefix(p, "/") {
		p = "/" + p // a drive
	}
	return (&url.URL{Scheme: "file", Path: p}).String()
}

// pathOf returns the path that a file URI names, "" for another URI.
func pathOf(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" {
		return ""
	}
	p := u.Path
	if system.HasDrives() {
		p = strings.TrimPrefix(p, "/")
	}
	return filepath.Clean(filepath.FromSlash(p))
}
