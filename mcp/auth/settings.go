package auth

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// The grants that a server can be configured for.
const (
	GrantCode   = "authorization_code" // a person signs in; also ""
	GrantClient = "client_credentials" // the client's own secret is enough
)

// Settings are what a server's entry says about signing in. The zero value is the usual
// case: everything is found out.
type Settings struct {
	ClientID     string
	ClientSecret string
	// MetadataURL is the client ID metadata document that stands for this client.
	MetadataURL string
	// Scopes replace those that the server asks for.
	Scopes []string
	// CallbackPort is the port of the loopback address that the browser comes back to; 0 is
	// any that is free.
	CallbackPort int
	Grant        string
	// AuthMethod is how the client proves itself to the token endpoint; "" leaves it to the
	// authorization server.
	AuthMethod string
}

// Server is one MCP server to sign in to.
type Server struct {
	Name     string
	URL      string
	Settings Settings
}

// key is what tokens are bound to: the address without what does not change the server.
func (s Server) key() string {
	u, err := url.Parse(s.URL)
	if err != nil {
		return s.URL
	}
	u.Scheme, u.Host, u.Fragment, u.User = strings.ToLower(u.Scheme), strings.ToLower(u.Host), "", nil
	return strings.TrimSuffix(u.String(), "/")
}

// NeedsSignIn says that a person has to sign in before a server can be used.
type NeedsSignIn struct {
	Server  string   // its name
	Address string   // of the MCP server
	Host    string   // of the authorization server; empty where it was not found
	Scopes  []string // that will be asked for
	// StepUp says that there is a sign-in already, whose rights are too few.
	StepUp bool
	// Why is what stands in the way of a sign-in, nil if nothing does.
	Why error

	found found
}

func (e *NeedsSignIn) Error() string {
	s := "needs sign-in"
	if e.StepUp {
		s = "needs a sign-in with more rights"
	}
	if e.Host != "" {
		s += " at " + e.Host
	}
	if e.StepUp && len(e.Scopes) > 0 {
		s += " (" + strings.Join(e.Scopes, ", ") + ")"
	}
	if e.Why != nil {
		return s + ", which is not possible: " + e.Why.Error()
	}
	if e.Server == "" {
		return s + ": a person has to run jcode mcp login --url " + e.Address
	}
	return s + fmt.Sprintf(": a person has to run /mcp login %s, or jcode mcp login %s", e.Server, e.Server)
}

func (e *NeedsSignIn) Unwrap() error { return e.Why }

// union returns a followed by what only b has.
func union(a, b []string) []string {
	out := slices.Clone(a)
	for _, s := range b {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}
