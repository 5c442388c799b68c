package auth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"jcode/internal/text"
)

// The methods by which a client authenticates.
const (
	methodNone  = "none"
	methodPost  = "client_secret_post"
	methodBasic = "client_secret_basic"
	methodKey   = "private_key_jwt"
)

// registered is a client as the authorization server knows it.
type registered struct {
	ID     string `json:"id"`
	Secret string `json:"secret,omitempty"`
	Method string `json:"method,omitempty"`
	// Redirect is the redirect address of its registration; empty if the person registered it.
	Redirect string `json:"redirect,omitempty"`
	// Expires is when the secret expires; zero means never.
	Expires time.Time `json:"expires,omitzero"`
}

// tokens is the answer of a token endpoint.
type tokens struct {
	Access  string
	Bound   bool // to the key of the request's proof
	Refresh string
	Issued  time.Time
	Expires time.Time // zero if the server doesn't say
	Scopes  []string  // nil if the server doesn't say
	ID      string    // the ID token of an identity provider
}

// refusedError is a refusal by an endpoint.
type refusedError struct {
	Code        string `json:"error"`
	Description string `json:"error_description"`
	status      int
	after       string // Retry-After
}

func (e *refusedError) Error() string {
	s := said(e.Code, 80)
	if s == "" {
		s = fmt.Sprintf("status %d", e.status)
	}
	if e.Description != "" {
		s += ": " + said(e.Description, 300)
	}
	return s
}

// isRefusal reports whether err is a refusal with one of these codes.
func isRefusal(err error, codes ...string) bool {
	var r *refusedError
	return errors.As(err, &r) && slices.Contains(codes, r.Code)
}

// said returns a text of a server for people: without control characters, and at most n bytes.
func said(s string, n int) string {
	s, _ = text.CutMark(text.Clean(text.Valid(s)), n, "…")
	return s
}

// retryAfter is the time that a server wants to be left alone.
func (e *refusedError) retryAfter() time.Duration {
	if seconds, err := strconv.Atoi(e.after); err == nil && seconds > 0 {
		return time.Duration(seconds) * time.Second
	}
	return 0
}

// isUnknownClient reports whether the authorization server no longer knows the client.
func isUnknownClient(err error) bool {
	var r *refusedError
	return isRefusal(err, "invalid_client", "unauthorized_client") || errors.As(err, &r) && r.Code == "" && r.status == http.StatusNotFound
}

// ask sends a request for tokens of a server. An endpoint that can't answer at the moment is asked
// again, for a short while.
func (k *Keeper) ask(ctx context.Context, server, endpoint string, client proof, form url.Values) (tokens, error) {
	for tries, began, pause := 1, time.Now(), k.pause; ; tries, pause = tries+1, 2*pause {
		sent := time.Now()
		data, err := k.post(ctx, server, endpoint, client, form)
		if err == nil {
			return readTokens(data, sent, client.bind != nil)
		}
		refusal, answered := errors.AsType[*refusedError](err)
		if answered {
			pause = max(pause, refusal.retryAfter())
		}
		if !passes(err) || !answered && !neverSent(err) || tries == askTries || time.Since(began)+pause > askPatience {
			return tokens{}, err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return tokens{}, ctx.Err()
		}
	}
}

// post sends a form to a token endpoint with the client's proof, and returns the answer. A proof of
// the token's key that the endpoint refuses is made again with what the endpoint says about it.
func (k *Keeper) post(ctx context.Context, server, endpoint string, client proof, form url.Values) ([]byte, error) {
	for tries := 1; ; tries++ {
		data, sent, err := k.postOnce(ctx, server, endpoint, client, form)
		if tries == askTries || !isRefusal(err, "use_dpop_nonce", "invalid_dpop_proof") || !k.peers.outdated(sent) {
			return data, err
		}
	}
}

// postOnce sends a form and returns the request.
func (k *Keeper) postOnce(ctx context.Context, server, endpoint string, client proof, form url.Values) ([]byte, *http.Request, error) {
	header := http.Header{}
	switch client.Method {
	case methodBasic:
		if client.Secret != "" {
			req := http.Request{Header: header}
			req.SetBasicAuth(url.QueryEscape(client.ID), url.QueryEscape(client.Secret))
		}
	case methodPost:
		form.Set("client_secret", client.Secret)
		form.Set("client_id", client.ID)
	case methodKey:
		if err := client.sign(form, time.Now()); err != nil {
			return nil, nil, err
		}
	default:
		form.Set("client_id", client.ID)
	}
	maps.DeleteFunc(form, func(_ string, v []string) bool { return len(v) == 1 && v[0] == "" })
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, nil, err
	}
	req.Header = header
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "application/json")
	if client.bind != nil {
		if err := client.bind.prove(req, "", k.peers.of(req.URL)); err != nil {
			return nil, nil, err
		}
	}
	resp, err := k.client(server).Do(req)
	if err != nil {
		return nil, req, &networkError{plain(err)}
	}
	defer func() { _ = resp.Body.Close() }() // the body was read as far as needed
	k.peers.heard(req.URL, resp.Header)
	data, err := io.ReadAll(io.LimitReader(resp.Body, bodyLimit))
	if err != nil {
		return nil, req, &networkError{fmt.Errorf("read the answer of the token endpoint: %w", err)}
	}
	if resp.StatusCode != http.StatusOK {
		refusal := &refusedError{status: resp.StatusCode, after: resp.Header.Get("Retry-After")}
		_ = json.Unmarshal(data, refusal) // without a body, the status is enough
		return nil, req, refusal
	}
	return data, req, nil
}

// plain removes the address, which may contain a secret, from the error of a request.
func plain(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}

// neverSent reports whether a request failed before a byte of it could reach the server.
func neverSent(err error) bool {
	var op *net.OpError
	var dns *net.DNSError
	return errors.As(err, &op) && op.Op == "dial" || errors.As(err, &dns)
}

// readTokens decodes an answer. It accepts numbers as text, and the token type in any case. proven says
// that the request had a proof of a key.
func readTokens(data []byte, at time.Time, proven bool) (tokens, error) {
	var raw struct {
		Access  string          `json:"access_token"`
		Refresh string          `json:"refresh_token"`
		ID      string          `json:"id_token"`
		Type    string          `json:"token_type"`
		Expires json.RawMessage `json:"expires_in"`
		Scope   *string         `json:"scope"`
		refusedError
	}
	if err := json.Unmarshal(data, &raw); err != nil {
		return tokens{}, errors.New("the token endpoint's answer is not a JSON object")
	}
	switch {
	case raw.Code != "": // some servers refuse with status 200
		return tokens{}, &refusedError{Code: raw.Code, Description: raw.Description, status: http.StatusOK}
	case raw.Access == "" || strings.ContainsAny(raw.Access, " \r\n\t"):
		return tokens{}, errors.New("the token endpoint's answer has no access token")
	case raw.Type != "" && !strings.EqualFold(raw.Type, "bearer") && !(proven && strings.EqualFold(raw.Type, "dpop")):
		return tokens{}, fmt.Errorf("the token endpoint returned a token of type %q, which jcode can't use", raw.Type)
	}
	out := tokens{Access: raw.Access, Refresh: raw.Refresh, ID: raw.ID, Issued: at, Bound: strings.EqualFold(raw.Type, "dpop") || raw.Type == "" && proven}
	if seconds, err := strconv.ParseFloat(strings.Trim(string(raw.Expires), `"`), 64); err == nil && seconds > 0 {
		out.Expires = at.Add(time.Duration(min(seconds, math.MaxInt32) * float64(time.Second)))
	}
	if raw.Scope != nil {
		out.Scopes = strings.Fields(*raw.Scope)
	}
	return out, nil
}

// methodOf chooses how a client with these settings authenticates.
func methodOf(s Settings, secret string, meta *authServer) string {
	supported := meta.TokenEndpointAuthMethodsSupported
	switch {
	case s.AuthMethod != "":
		return s.AuthMethod
	case secret == "" && s.PrivateKey != "":
		return methodKey
	case secret == "":
		return methodNone
	case slices.Contains(supported, methodPost) && !slices.Contains(supported, methodBasic):
		return methodPost
	}
	return methodBasic
}

// register registers a client with the redirect address redirect.
func register(ctx context.Context, c *http.Client, meta *authServer, redirect string, scopes []string) (registered, error) {
	if meta.RegistrationEndpoint == "" {
		return registered{}, errors.New("the authorization server accepts no new clients: register one there and set oauth.client_id")
	}
	if err := checkEndpoint("the registration endpoint", meta.RegistrationEndpoint); err != nil {
		return registered{}, err
	}
	ask := &oauthex.ClientRegistrationMetadata{
		RedirectURIs: []string{redirect}, ClientName: "jcode", ApplicationType: "native",
		GrantTypes: []string{"authorization_code", "refresh_token"}, ResponseTypes: []string{"code"},
		TokenEndpointAuthMethod: methodNone, Scope: strings.Join(scopes, " "),
	}
	if list := meta.TokenEndpointAuthMethodsSupported; len(list) > 0 && !slices.Contains(list, methodNone) {
		ask.TokenEndpointAuthMethod = methodBasic
		if !slices.Contains(list, methodBasic) && slices.Contains(list, methodPost) {
			ask.TokenEndpointAuthMethod = methodPost
		}
	}
	got, err := oauthex.RegisterClient(ctx, meta.RegistrationEndpoint, ask, c)
	if err != nil {
		return registered{}, fmt.Errorf("register with the authorization server: %w", plain(err))
	}
	out := registered{ID: got.ClientID, Secret: got.ClientSecret, Method: got.TokenEndpointAuthMethod, Redirect: redirect, Expires: got.ClientSecretExpiresAt}
	switch {
	case out.Method == "" && out.Secret == "":
		out.Method = methodNone
	case out.Method == "":
		out.Method = methodBasic // the default of the standard
	}
	return out, nil
}
