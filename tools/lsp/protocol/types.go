package protocol

import (
	"encoding/json"
	"net/url"
	"path/filepath"
	"strings"

	"jcode/internal/system"
)

// Position is a place in a document.
type Position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

// Range is a stretch of a document; its end is not part of it.
type Range struct {
	Start Position `json:"start"`
	End   Position `json:"end"`
}

// Location is a stretch of some document.
type Location struct {
	URI   string `json:"uri"`
	Range Range  `json:"range"`
}

// LocationLink is a location as newer servers send it.
type LocationLink struct {
	TargetURI   string `json:"targetUri"`
	TargetRange Range  `json:"targetSelectionRange"`
}

// TextDocument names a document.
type TextDocument struct {
	URI string `json:"uri"`
}

// VersionedDocument names a document at one of its versions.
type VersionedDocument struct {
	URI     string `json:"uri"`
	Version int    `json:"version"`
}

// TextEdit replaces a stretch of a document.
type TextEdit struct {
	Range   Range  `json:"range"`
	NewText string `json:"newText"`
}

// WorkspaceEdit changes several documents, in one of two forms.
type WorkspaceEdit struct {
	Changes         map[string][]TextEdit `json:"changes"`
	DocumentChanges []DocumentChange      `json:"DocumentChanges"`
}

// DocumentChange is the edits of one document, or, if Kind is set, a file to create, rename or
// delete.
type DocumentChange struct {
	Kind         string            `json:"kind"`
	TextDocument VersionedDocument `json:"textDocument"`
	Edits        []TextEdit        `json:"edits"`
}

// The severities of diagnostics.
const (
	SeverityError   = 1
	SeverityWarning = 2
)

// Diagnostic is what a server finds fault with.
type Diagnostic struct {
	Range    Range           `json:"range"`
	Severity int             `json:"severity"`
	Code     json.RawMessage `json:"code,omitempty"`
	Source   string          `json:"source,omitempty"`
	Message  string          `json:"message"`
}

// PublishedDiagnostics is all that a server has to say of a document; Version is nil where it doesn't say of which one.
type PublishedDiagnostics struct {
	URI         string       `json:"uri"`
	Version     *int         `json:"version"`
	Diagnostics []Diagnostic `json:"diagnostics"`
}

// PulledDiagnostics is the answer to textDocument/diagnostic.
type PulledDiagnostics struct {
	Kind    string                       `json:"kind"`
	Items   []Diagnostic                 `json:"items"`
	Related map[string]PulledDiagnostics `json:"relatedDocuments"`
}

// SymbolInformation is a symbol of the project.
type SymbolInformation struct {
	Name          string   `json:"name"`
	Kind          int      `json:"kind"`
	Location      Location `json:"location"`
	ContainerName string   `json:"containerName"`
}

// DocumentSymbol is a symbol of a document, with those inside it.
type DocumentSymbol struct {
	Name           string           `json:"name"`
	Kind           int              `json:"kind"`
	Range          Range            `json:"range"`
	SelectionRange Range            `json:"selectionRange"`
	Children       []DocumentSymbol `json:"children"`
	// Location is set instead by servers that use the older form.
	Location *Location `json:"location"`
}

// CodeAction is a change that a server offers.
type CodeAction struct {
	Title    string          `json:"title"`
	Kind     string          `json:"kind,omitempty"`
	Edit     *WorkspaceEdit  `json:"edit,omitempty"`
	Command  json.RawMessage `json:"command,omitempty"`
	Data     json.RawMessage `json:"data,omitempty"`
	Disabled *struct {
		Reason string `json:"reason"`
	} `json:"disabled,omitempty"`
}

// Capabilities is what a server declares. Providers are `true`, an object, or absent.
type Capabilities struct {
	Workspace struct {
		Folders FolderSupport `json:"workspaceFolders"`
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

// PullsTogether reports whether a change of one file may change what is reported of others when asked.
func (c Capabilities) PullsTogether() bool {
	var options struct {
		Together *bool `json:"interFileDependencies"`
	}
	return json.Unmarshal(c.DocumentDiagnostic, &options) != nil || options.Together == nil || *options.Together
}

// Provides reports whether a provider is declared.
func Provides(raw json.RawMessage) bool {
	s := string(raw)
	return s != "" && s != "null" && s != "false"
}

// SymbolKind returns the word for a symbol's kind.
func SymbolKind(k int) string {
	names := []string{
		"symbol", "file", "module", "namespace", "package", "class", "method", "property", "field", "constructor", "enum", "interface",
		"function", "variable", "constant", "string", "number", "boolean", "array", "object", "key", "null", "enum member", "struct", "event", "operator", "type parameter",
	}
	if k < 0 || k >= len(names) {
		k = 0
	}
	return names[k]
}

// URI returns the file URI of an absolute path.
func URI(path string) string {
	p := filepath.ToSlash(path)
	if !strings.HasPrefix(p, "/") {
		p = "/" + p // a drive
	}
	return (&url.URL{Scheme: "file", Path: p}).String()
}

// Path returns the path that a file URI names, "" for another URI.
func Path(uri string) string {
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

// FolderSupport is what a server declares about several folders.
type FolderSupport struct {
	Supported bool            `json:"supported"`
	Changes   json.RawMessage `json:"changeNotifications"` // true, or the name of a registration
}

// Change reports whether folders may be added while the server runs.
func (f FolderSupport) Change() bool {
	return f.Supported && Provides(f.Changes) && string(f.Changes) != `""`
}
