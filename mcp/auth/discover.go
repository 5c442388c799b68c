package auth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// found is the result of discovery for a server.
type found struct {
	resource string // the server's identifier, which tokens are issued for
	scopes   []string
	declared bool // the server has resource metadata
	server   *authServer
	bound    bool     // the server asks for tokens that are bound to a key (RFC 9449)
	mustBind bool     // and accepts no others
	algs     []string // that it accepts for them; nil if it doesn't say
}

// authServer is the metadata of an authorization server (RFC 8414).
type authServer struct {
	oauthex.AuthServerMeta
	// DPoPAlgs are the signing algorithms for keys that tokens are bound to (RFC 9449).
	DPoPAlgs lenientList `json:"dpop_signing_alg_values_supported"`
}

// lenientList is a list of texts. Anything else is an empty list, instead of metadata that can't be read.
type lenientList []string

// UnmarshalJSON implements json.Unmarshaler.
func (l *lenientList) UnmarshalJSON(data []byte) error {
	var list []string
	if json.Unmarshal(data, &list) == nil {
		*l = list
	}
	return nil
}

// challenge is what a refused response says about signing in.
type challenge struct {
	metadata string // address of the protected resource's metadata
	scopes   []string
	reason   string // "insufficient_scope" and the like
	bound    bool   // tokens that are bound to a key are accepted
	algs     []string
}

// stepUp reports whether the token that was sent has too few scopes.
func (c challenge) stepUp() bool { return c.reason == "insufficient_scope" }

// readChallenge parses the WWW-Authenticate headers. It ignores what it can't parse.
func readChallenge(h http.Header) challenge {
	var c challenge
	for _, value := range h.Values("WWW-Authenticate") {
		list, err := oauthex.ParseWWWAuthenticate([]string{value})
		if err != nil {
			continue
		}
		for _, one := range list {
			if c.metadata == "" {
				c.metadata = one.Params["resource_metadata"]
			}
			switch one.Scheme {
			case "dpop":
				c.bound, c.algs = true, strings.Fields(one.Params["algs"])
			case "bearer":
			default:
				continue
			}
			if c.reason == "" {
				c.reason = one.Params["error"]
			}
			if c.scopes == nil {
				c.scopes = scopesOf(strings.Fields(one.Params["scope"]))
			}
		}
	}
	return c
}

// discover finds the authorization server of an MCP server.
func discover(ctx context.Context, c *http.Client, server string, ch challenge) (found, error) {
	out, issuer, err := protectedResource(ctx, c, server, ch)
	if err != nil {
		return found{}, err
	}
	if err := checkEndpoint("the authorization server", issuer); err != nil {
		return found{}, err
	}
	if ch.bound {
		out.bound, out.algs = true, ch.algs
	}
	if out.server, err = authorizationServer(ctx, c, issuer); err != nil && !out.declared {
		out.server, err = sameOriginServer(ctx, c, issuer, err)
	}
	if err != nil {
		return found{}, fmt.Errorf("read the metadata of the authorization server %s: %w", issuer, err)
	}
	if out.server == nil {
		// Servers of the protocol version of March 2025 have their endpoints at fixed paths.
		base := strings.TrimSuffix(issuer, "/")
		out.server = &authServer{AuthServerMeta: oauthex.AuthServerMeta{
			Issuer: issuer, AuthorizationEndpoint: base + "/authorize", TokenEndpoint: base + "/token", RegistrationEndpoint: base + "/register",
		}}
	}
	return out, checkEndpoints(out.server)
}

// checkEndpoints checks the endpoints that a token or a person is sent to.
func checkEndpoints(meta *authServer) error {
	if meta.AuthorizationEndpoint != "" { // a grant without a person needs none
		if err := checkEndpoint("the authorization_endpoint", meta.AuthorizationEndpoint); err != nil {
			return err
		}
	}
	return checkEndpoint("the token_endpoint", meta.TokenEndpoint)
}

// protectedResource reads the server's resource metadata: its identifier, and its authorization
// server. A server without metadata is its own authorization server, as in the protocol version
// of March 2025.
func protectedResource(ctx context.Context, c *http.Client, server string, ch challenge) (out found, issuer string, err error) {
	u, err := url.Parse(server)
	if err != nil {
		return found{}, "", err
	}
	u.Fragment, u.User = "", nil
	out.resource = u.String()
	places := []string{u.Scheme + "://" + u.Host + "/.well-known/oauth-protected-resource"}
	if path := strings.Trim(u.Path, "/"); path != "" {
		places = slices.Insert(places, 0, places[0]+"/"+path)
	}
	if ch.metadata != "" {
		places = slices.Insert(places, 0, ch.metadata)
	}
	var failed error
	for _, place := range places {
		if err := checkEndpoint("the resource metadata", place); err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		var meta oauthex.ProtectedResourceMetadata
		err := getJSON(ctx, c, place, &meta)
		switch {
		case ctx.Err() != nil:
			return found{}, "", ctx.Err()
		case errors.Is(err, errNotThere):
			continue
		case err != nil:
			failed = errors.Join(failed, err)
			continue
		case !covers(meta.Resource, u):
			return found{}, "", fmt.Errorf("%s is about another resource: %q", place, meta.Resource)
		case len(meta.AuthorizationServers) == 0:
			return found{}, "", fmt.Errorf("%s names no authorization server", place)
		}
		out.resource, out.scopes, out.declared = meta.Resource, scopesOf(meta.ScopesSupported), true
		out.mustBind, out.algs = meta.DPOPBoundAccessTokensRequired, meta.DPOPSigningAlgValuesSupported
		out.bound = out.mustBind || len(out.algs) > 0
		return out, meta.AuthorizationServers[0], nil
	}
	if failed != nil && ch.metadata != "" {
		return found{}, "", fmt.Errorf("read the resource metadata: %w", failed)
	}
	return out, u.Scheme + "://" + u.Host, nil
}

// covers reports whether a resource identifier covers a server: it has the same origin, and its
// path is a prefix of the server's.
func covers(resource string, server *url.URL) bool {
	r, err := url.Parse(resource)
	if err != nil || !strings.EqualFold(r.Scheme, server.Scheme) || !strings.EqualFold(r.Host, server.Host) {
		return false
	}
	have, want := strings.Trim(server.Path, "/")+"/", strings.Trim(r.Path, "/")+"/"
	return want == "/" || strings.HasPrefix(have, want)
}

// authorizationServer reads the metadata of an authorization server. It returns nil if there is
// none.
func authorizationServer(ctx context.Context, c *http.Client, issuer string) (*authServer, error) {
	u, err := url.Parse(issuer)
	if err != nil {
		return nil, err
	}
	base, path := u.Scheme+"://"+u.Host+"/.well-known/", strings.Trim(u.Path, "/")
	places := []string{base + "oauth-authorization-server", base + "openid-configuration"}
	if path != "" {
		places = []string{places[0] + "/" + path, places[1] + "/" + path, u.Scheme + "://" + u.Host + "/" + path + "/.well-known/openid-configuration"}
	}
	var failed error
	for _, place := range places {
		meta := &authServer{}
		err := getJSON(ctx, c, place, meta)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.Is(err, errNotThere):
			continue
		case err != nil:
			failed = errors.Join(failed, err)
			continue
		case strings.TrimSuffix(meta.Issuer, "/") != strings.TrimSuffix(issuer, "/"):
			return nil, fmt.Errorf("%s names the issuer %q, which does not match %q", place, meta.Issuer, issuer)
		case len(meta.CodeChallengeMethodsSupported) == 0:
			return nil, fmt.Errorf("the authorization server %s does not implement PKCE", issuer)
		}
		return meta, nil
	}
	return nil, failed
}

// sameOriginServer reads the metadata of a server of the protocol version of March 2025 that is
// its own authorization server, whose issuer may be below the address of the metadata. If it is
// not such a server, it returns failed.
func sameOriginServer(ctx context.Context, c *http.Client, base string, failed error) (*authServer, error) {
	var meta authServer
	if getJSON(ctx, c, base+"/.well-known/oauth-authorization-server", &meta) != nil || len(meta.CodeChallengeMethodsSupported) == 0 {
		return nil, failed
	}
	for _, address := range []string{meta.Issuer, meta.AuthorizationEndpoint, meta.TokenEndpoint} {
		if u, err := url.Parse(address); err != nil || !strings.EqualFold(u.Scheme+"://"+u.Host, base) {
			return nil, failed
		}
	}
	return &meta, nil
}
