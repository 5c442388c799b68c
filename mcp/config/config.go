package config

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"jcode/internal/shellword"
)

// Transport is the kind of connection to a server.
type Transport string

// The transports.
const (
	Stdio Transport = "stdio"
	HTTP  Transport = "http"
	SSE   Transport = "sse" // the HTTP transport of 2024
	// Line is the line over which a program drives jcode. No file can name it.
	Line Transport = "line"
)

// Target is what to start or where to connect, as it was written: variables are not
// expanded.
type Target struct {
	Type       Transport         `json:"type"`
	Command    string            `json:"command,omitempty"`
	Args       []string          `json:"args,omitempty"`
	Env        map[string]string `json:"env,omitempty"`
	Cwd        string            `json:"cwd,omitempty"`
	URL        string            `json:"url,omitempty"`
	Headers    map[string]string `json:"headers,omitempty"`
	InheritEnv []string          `json:"inheritEnv,omitempty"`
	// Roots are the folders that are announced to the server: RootsWorkspace or RootsNone alone, or
	// a list of folders. Nil derives them from the arguments, see Environment.Resolve.
	Roots []string `json:"roots,omitempty"`
	// OAuth says how to sign in if the server asks for it; nil: as the server says.
	OAuth *OAuth `json:"oauth,omitempty"`
	// HeadersHelper is a command that prints headers, for a URL.
	HeadersHelper []string `json:"headersHelper,omitempty"`
}

// OAuth is what an entry says about signing in.
type OAuth struct {
	ClientID          string   `json:"client_id,omitempty"`
	ClientSecretEnv   string   `json:"client_secret_env,omitempty"` // the variable that holds it
	ClientMetadataURL string   `json:"client_metadata_url,omitempty"`
	Scopes            []string `json:"scopes,omitempty"`
	CallbackPort      int      `json:"callback_port,omitempty"`
	Grant             string   `json:"grant,omitempty"` // authorization_code (also ""), client_credentials, jwt_bearer or enterprise
	AuthMethod        string   `json:"token_endpoint_auth_method,omitempty"`
	PrivateKeyEnv     string   `json:"private_key_env,omitempty"` // the variable that holds it, in PEM
	KeyID             string   `json:"key_id,omitempty"`
	AssertionEnv      string   `json:"assertion_env,omitempty"`  // the variable that holds the assertion of jwt_bearer
	AssertionFile     string   `json:"assertion_file,omitempty"` // or the file
	IDP               *IDP     `json:"idp,omitempty"`
}

// IDP is the company's identity provider of the grant enterprise.
type IDP struct {
	Issuer          string `json:"issuer"`
	ClientID        string `json:"client_id"`
	ClientSecretEnv string `json:"client_secret_env,omitempty"` // the variable that holds it
	IDTokenEnv      string `json:"id_token_env,omitempty"`      // the variable that holds an ID token from elsewhere
}

// secrets returns the variables that hold secrets, by the key that names them.
func (o *OAuth) secrets() map[string]string {
	out := map[string]string{"client_secret_env": o.ClientSecretEnv, "private_key_env": o.PrivateKeyEnv, "assertion_env": o.AssertionEnv}
	if o.IDP != nil {
		out["idp.client_secret_env"], out["idp.id_token_env"] = o.IDP.ClientSecretEnv, o.IDP.IDTokenEnv
	}
	maps.DeleteFunc(out, func(_, name string) bool { return name == "" })
	return out
}

// The words that may be the only value of Target.Roots.
const (
	RootsWorkspace = "workspace" // the workspace's folders
	RootsNone      = "none"      // no folder at all
)

// Hash identifies what a person approved: any change to the target changes it.
func (t Target) Hash() string {
	t.InheritEnv = slices.Sorted(slices.Values(t.InheritEnv))
	data, err := json.Marshal(t) // maps are written in sorted order
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Typed returns the target with its transport set, which follows from its fields.
func (t Target) Typed() Target {
	switch {
	case t.Type != "":
	case t.URL != "":
		t.Type = HTTP
	default:
		t.Type = Stdio
	}
	return t
}

// Remote reports whether a target is reached over the network.
func (t Target) Remote() bool { return t.Type == HTTP || t.Type == SSE }

// Equal reports whether two targets are the same.
func (t Target) Equal(o Target) bool { return t.Hash() == o.Hash() }

// HasCredentials reports whether a target sends an Authorization header of its own.
func (t Target) HasCredentials() bool {
	for name := range t.Headers {
		if strings.EqualFold(name, "Authorization") {
			return true
		}
	}
	return len(t.HeadersHelper) > 0
}

// Line returns the whole command line, quoted for a shell and unexpanded, or the URL.
func (t Target) Line() string {
	if t.Type != Stdio {
		return t.URL // none of a line
	}
	if t.Command == "" { // an entry that can't be used
		return ""
	}
	return shellword.Join(append([]string{t.Command}, t.Args...))
}

// Scope says whose file an entry comes from.
type Scope string

// The scopes, strongest first, and the two that no file has.
const (
	ScopeRun     Scope = "run"
	ScopeProject Scope = "project"
	ScopeUser    Scope = "user"
	ScopeSession Scope = "session" // connected by the agent in this session
	ScopeLua     Scope = "lua"
	ScopeProgram Scope = "program" // served by the program that drives this run
)

// Source is where an entry is defined.
type Source struct {
	Scope Scope  `json:"scope"`
	File  string `json:"file,omitempty"`
	// Plugin names the plugin that brought it, "" for none.
	Plugin string `json:"plugin,omitempty"`
	// Old says that the plugin was accepted before its servers were confined.
	Old  bool `json:"-"`
	Line int  `json:"line,omitempty"`
}

// Own reports whether neither the project nor a plugin brought the entry.
func (e Entry) Own() bool { return e.Source.Scope != ScopeProject && e.Source.Plugin == "" }

// Entry is one configured server.
type Entry struct {
	Name   string
	Target Target
	Source Source

	Enabled       bool
	EnabledTools  []string // raw names or globs; nil = all
	DisabledTools []string

	ConnectTimeout time.Duration
	CallTimeout    time.Duration
	MaxCallTime    time.Duration
	KeepAlive      time.Duration // 0 = no pings

	Optional        bool
	Trusted         bool // its readOnlyHint is believed; only from the person's own files
	MaxFrame        int  // bytes
	MaxResultTokens int

	// Warnings name what was odd in the entry, with file, line and key.
	Warnings []string
	// Err says why the entry can't be used; nil for a good one.
	Err error
}

// The default time limits of an entry.
const (
	DefaultConnectTimeout = 30 * time.Second
	DefaultCallTimeout    = 120 * time.Second
	DefaultMaxCallTime    = 30 * time.Minute
)

// The default limits of an entry: the bytes of the longest message that is kept, and the tokens of a result
// that the model gets.
const (
	DefaultMaxFrame        = 64 << 20
	DefaultMaxResultTokens = 25_000
)

// NewEntry returns an entry with the defaults.
func NewEntry(name string) Entry {
	return Entry{
		Name: name, Enabled: true,
		ConnectTimeout: DefaultConnectTimeout, CallTimeout: DefaultCallTimeout, MaxCallTime: DefaultMaxCallTime,
		MaxFrame: DefaultMaxFrame, MaxResultTokens: DefaultMaxResultTokens,
	}
}

// AllowsTool applies enabledTools and disabledTools; deny takes precedence.
func (e Entry) AllowsTool(raw string) bool {
	match := func(list []string) bool {
		return slices.ContainsFunc(list, func(p string) bool { return matchGlob(p, raw) })
	}
	if match(e.DisabledTools) {
		return false
	}
	return e.EnabledTools == nil || match(e.EnabledTools)
}

// matchGlob matches a name against a pattern in which `*` matches any run of characters and `?` one. Every
// other character matches itself.
func matchGlob(pattern, name string) bool {
	p, n := []rune(pattern), []rune(name)
	star, mark := -1, 0
	i, j := 0, 0
	for j < len(n) {
		switch {
		case i < len(p) && p[i] == '*':
			star, mark = i, j
			i++
		case i < len(p) && (p[i] == '?' || p[i] == n[j]):
			i++
			j++
		case star >= 0:
			mark++
			i, j = star+1, mark
		default:
			return false
		}
	}
	for i < len(p) && p[i] == '*' {
		i++
	}
	return i == len(p)
}
