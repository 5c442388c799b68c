package role

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"jcode/internal/frontmatter"
	"jcode/internal/jsonerr"
	"jcode/internal/paths"
)

// Role is a named way of working: a prompt, a model and what it may touch. A nil list
// means that nothing is restricted; an empty one means nothing at all.
type Role struct {
	Name            string   `json:"name"`
	Description     string   `json:"description,omitempty"`
	Model           string   `json:"model,omitempty"` // "" keeps the current one
	Temperature     *float64 `json:"temperature,omitempty"`
	TopP            *float64 `json:"top_p,omitempty"`
	ReasoningEffort string   `json:"reasoning_effort,omitempty"`
	MaxOutputTokens int      `json:"max_output_tokens,omitempty"`
	Tools           []string `json:"tools"`               // canonical names and globs; nil = all
	Servers         []string `json:"mcp_servers"`         // nil = those already connected
	Documents       []string `json:"documents,omitempty"` // paths, globs and addresses to search
	Skills          []string `json:"skills"`              // nil = all
	Memory          string   `json:"memory,omitempty"`    // which notes it uses: none, project or all; "" = all
	Mode            string   `json:"mode,omitempty"`      // approval mode ceiling, "" = none
	Capabilities    []string `json:"capabilities"`        // nil = all
	// Disallowed are tools that it doesn't get even if Tools names them.
	Disallowed []string `json:"disallowed_tools,omitempty"`
	// MaxSteps bounds the model requests of a sub-agent in this role, 0 = no bound of its own.
	MaxSteps int `json:"max_steps,omitempty"`
	// Hooks are commands that run at its events, in the form of a settings file; nil means none.
	Hooks json.RawMessage `json:"hooks,omitempty"`
	// Variables are the values that are asked for when the role is entered.
	Variables []Variable `json:"variables,omitempty"`
	// Body is the prompt as it is written: see Render.
	Body string `json:"body"`
	// Unknown are the keys that no rule names. They are kept by Format.
	Unknown []Field `json:"unknown,omitempty"`

	// Source, Path and Text say where the role comes from: its layer, its file (empty for rows
	// and builtins), and the file's bytes, for an export.
	Source Source `json:"source,omitempty"`
	Path   string `json:"path,omitempty"`
	Text   string `json:"text,omitempty"`
	// Problems are what is wrong in it. A Fatal one keeps it from being used.
	Problems []Problem `json:"-"`
}

// Field is a key that no rule names, with its lines as they are written.
type Field struct {
	Key string `json:"key"`
	Raw string `json:"raw"`
}

// Problem is one thing that is wrong in a role.
type Problem struct {
	Line  int // 1-based; 0 = the whole role
	Text  string
	Cure  string
	Fatal bool
}

func (p Problem) String() string {
	s := p.Text
	if p.Line > 0 {
		s = fmt.Sprintf("line %d: %s", p.Line, s)
	}
	if p.Cure != "" {
		s += " (" + p.Cure + ")"
	}
	return s
}

// Source is a layer that roles come from.
type Source string

// The layers, by precedence.
const (
	Project       Source = "project"  // .jcode/roles of the project
	Database      Source = "database" // rows
	UserFile      Source = "user"     // roles folder of the configuration
	ProjectAgents Source = "project .claude"
	UserAgents    Source = "~/.claude"
	Plugin        Source = "plugin"
	Builtin       Source = "builtin"
)

// FromProject reports whether the role came with the project.
func (s Source) FromProject() bool { return s == Project || s == ProjectAgents }

// foreign reports whether the layer's files are written for another agent: see ParseAgent.
func (s Source) foreign() bool { return s == ProjectAgents || s == UserAgents || s == Plugin }

// Usable returns an error that names what keeps the role from being used, nil if nothing
// does.
func (r Role) Usable() error {
	for _, p := range r.Problems {
		if p.Fatal {
			return r.Fault(p.String())
		}
	}
	return nil
}

// Fault returns an error that says where the role is and what is wrong with it.
func (r Role) Fault(what string) error {
	where := "role " + r.Name
	if r.Path != "" {
		where += " (" + r.Path + ")"
	}
	return fmt.Errorf("%s: %s", where, what)
}

// Line returns the line of a key in the role's text, 0 if it is not there. Keys are as in the
// role file format, with `_`.
func (r Role) Line(key string) int {
	for _, f := range frontmatter.Parse([]byte(r.Text)).Fields {
		if bare(f.Key) == bare(key) {
			return f.Line
		}
	}
	return 0
}

// roleKey returns a key in the form for comparing: case and `-` for `_` do not matter.
func roleKey(key string) string { return strings.ReplaceAll(strings.ToLower(key), "-", "_") }

// bare returns a key in a form that is equal for mcp_servers and mcpServers.
func bare(key string) string { return strings.ReplaceAll(roleKey(key), "_", "") }

// WantsTrust reports whether a role that comes with a project reaches beyond narrowing
// what the person has: it picks the model, runs hooks, names servers to start or documents outside of the
// project, or asks for values.
func (r Role) WantsTrust() bool {
	return r.Model != "" || r.Hooks != nil || len(r.Servers) > 0 || len(r.Variables) > 0 || slices.ContainsFunc(r.Documents, paths.LeadsOut)
}

// Snapshot returns the role as the text that a session stores when it enters the role.
func (r Role) Snapshot() string {
	b, err := json.Marshal(r)
	if err != nil {
		return "" // only numbers that JSON can't hold; Parse refuses those
	}
	return string(b)
}

// FromSnapshot reads a text that Snapshot returned.
func FromSnapshot(text string) (Role, error) {
	var r Role
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return Role{}, fmt.Errorf("read role of the session: %w", jsonerr.Plain(err))
	}
	return r, nil
}

// SameAs reports whether two roles have the same effect, wherever they come from.
func (r Role) SameAs(o Role) bool {
	plain := func(r Role) string {
		r.Source, r.Path, r.Text, r.Unknown, r.Description = "", "", "", nil, ""
		return r.Snapshot()
	}
	return plain(r) == plain(o)
}

// CheckName returns an error for a name that a role can't have. Names are typed after `/role`
// and are file names.
func CheckName(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("a role needs a name")
	case len(name) > 64:
		return fmt.Errorf("role name %.20q… is too long: use at most 64 bytes", name)
	case !utf8.ValidString(name):
		return fmt.Errorf("role name %q is not UTF-8", name)
	case slices.ContainsFunc([]string{"off", "info", "set"}, func(word string) bool { return strings.EqualFold(name, word) }):
		return fmt.Errorf("role name %q is a word of /role itself: use another", name)
	}
	for i, r := range name {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || r == '_' || i > 0 && (r == '-' || r == '.') {
			continue
		}
		return fmt.Errorf("role name %q: use letters, digits and _, and after the first also . and -", name)
	}
	return nil
}
