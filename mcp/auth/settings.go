package auth

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
)

// The grants that a server can be configured for.
const (
	GrantCode   = "authorization_code" // a person signs in; also ""
	GrantClient = "client_credentials" // the client's own credentials are enough
	// GrantWorkload presents an assertion that the workload's platform signed (RFC 7523).
	GrantWorkload = "jwt_bearer"
	// GrantEnterprise exchanges a sign-in to the company's identity provider (RFC 8693) for a grant
	// that the server's authorization server accepts (RFC 7523).
	GrantEnterprise = "enterprise"
)

// Settings are the OAuth settings of a server's entry. The zero value is the usual case:
// everything is discovered.
type Settings struct {
	ClientID     string
	ClientSecret string
	// MetadataURL is the address of the client ID metadata document that describes this client.
	MetadataURL string
	// Scopes replace the scopes that the server asks for.
	Scopes []string
	// CallbackPort is the port of the loopback address that the browser is redirected to; 0 means
	// any free port.
	CallbackPort int
	Grant        string
	// AuthMethod is how the client authenticates to the token endpoint; "" leaves it to the
	// authorization server.
	AuthMethod string
	// PrivateKey, in PEM format, signs the client's assertions for the method private_key_jwt.
	// KeyID is its ID.
	PrivateKey, KeyID string
	// Assertion is the signed assertion for GrantWorkload. AssertionFile is a file with it, which is read for
	// each token: platforms replace it before it expires.
	Assertion, AssertionFile string
	// IDP is the identity provider for GrantEnterprise.
	IDP IDP
}

// Secrets returns the values that must never be shown.
func (s Settings) Secrets() []string {
	return nonEmpty([]string{s.ClientSecret, s.PrivateKey, s.Assertion, s.IDP.ClientSecret, s.IDP.IDToken})
}

func nonEmpty(list []string) []string {
	return slices.DeleteFunc(list, func(s string) bool { return s == "" })
}

// IDP is an identity provider, with jcode's client credentials there.
type IDP struct {
	Issuer       string
	ClientID     string
	ClientSecret string
	// IDToken is an ID token from elsewhere. Without it, a person signs in to the provider, once
	// for all servers.
	IDToken string
}

// Server is one MCP server to sign in to.
type Server struct {
	Name     string
	URL      string
	Settings Settings

	idp bool // this is an identity provider
}

// key returns what tokens are bound to: the address without the parts that don't identify the
// server.
func (s Server) key() string {
	u, err := url.Parse(s.URL)
	if err != nil {
		return s.URL
	}
	u.Scheme, u.Host, u.Fragment, u.User = strings.ToLower(u.Scheme), strings.ToLower(u.Host), "", nil
	key := strings.TrimSuffix(u.String(), "/")
	if s.idp {
		return "identity provider " + key
	}
	return key
}

// NeedsSignIn is the error that a person has to sign in before a server can be used.
type NeedsSignIn struct {
	Server  string   // its name
	Address string   // of the MCP server
	Host    string   // of the authorization server; empty if it was not found
	Scopes  []string // that will be requested
	// StepUp says that there is a sign-in already, but with too few scopes.
	StepUp bool
	// Interrupted says that a renewal ended before its answer was stored.
	Interrupted bool
	// Why is what prevents a sign-in, nil if nothing does.
	Why error

	found found
	// since is when the sign-in was made that was stored when this error was made. If it is another one
	// now, somebody has signed in since.
	since time.Time
	// challenged are the scopes of earlier challenges.
	challenged []string
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
	if e.Interrupted {
		s += " again, because the last renewal was cut off before its answer was kept"
	}
	if e.Server == "" {
		return s + ": the user has to run jcode mcp login --url " + e.Address
	}
	return s + fmt.Sprintf(": the user has to run /mcp login %s, or jcode mcp login %s", e.Server, e.Server)
}

func (e *NeedsSignIn) Unwrap() error { return e.Why }

// record returns a record of the sign-in, still without tokens.
func (e *NeedsSignIn) record(s Server, client registered) record {
	meta := e.found.server
	revoke := meta.RevocationEndpoint
	if checkEndpoint("the revocation_endpoint", revoke) != nil {
		revoke = ""
	}
	return record{
		Revoke: revoke,
		Server: s.URL, Issuer: meta.Issuer, TokenEndpoint: meta.TokenEndpoint, Resource: e.found.resource, Client: client, Scopes: e.Scopes,
		Challenged: e.challenged, Since: time.Now(),
	}
}

// fill copies new tokens, and the key that they may be bound to, into a record of the sign-in.
func (e *NeedsSignIn) fill(rec *record, got tokens, key *boundKey) error {
	if e.found.mustBind && !got.Bound {
		return errors.New("the authorization server's token is not bound to a key, which the server requires")
	}
	rec.take(got)
	if key == nil {
		return nil
	}
	var err error
	rec.Key, err = key.encode()
	return err
}

// scopesOf returns the scopes of a text or list of a server that are ones (RFC 6749): people and the model see
// them.
func scopesOf(list []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool {
		return s == "" || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '"' || r == '\\' })
	})
}

// union returns a, followed by the elements of b that are not in a.
func union(a, b []string) []string {
	out := slices.Clone(a)
	for _, s := range b {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}
