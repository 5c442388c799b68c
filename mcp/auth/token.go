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
	Refresh string
	Expires time.Time // zero if the server doesn't say
	Scopes  []string  // nil if the server doesn't say
	ID      string    // the ID token of an identity provider
}

// refusedError is a refusal by an endpoint.
type refusedError struct {
	Code        string `json:"error"`
	Description string `json:"error_description"`
	status      int
}

func (e *refusedError) Error() string {
	s := e.Code
	if s == "" {
		s = fmt.Sprintf("status %d", e.status)
	}
	if e.Description != "" {
		d, _ := text.CutMark(text.Clean(text.Valid(e.Description)), 300, "…")
		s += ": " + d
	}
	return s
}

// isRefusal reports whether err is a refusal with one of these codes.
func isRefusal(err error, codes ...string) bool {
	var r *refusedError
	return errors.As(err, &r) && slices.Contains(codes, r.Code)
}

// isUnknownClient reports whether the authorization server no longer knows the client.
func isUnknownClient(err error) bool {
	var r *refusedError
	return isRefusal(err, "invalid_client", "unauthorized_client") || errors.As(err, &r) && r.Code == "" && r.status == http.StatusNotFound
}

// ask sends a request for tokens.
func ask(ctx context.Context, c *http.Client, endpoint string, client proof, form url.Values) (tokens, error) {
	began := time.Now()
	data, err := post(ctx, c, endpoint, client, form)
	if err != nil {
		return tokens{}, err
	}
	return readTokens(data, began)
}

// post sends a form to a token endpoint with the client's proof, and returns the answer.
func post(ctx context.Context, c *http.Client, endpoint string, client proof, form url.Values) ([]byte, error) {
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
			return nil, err
		}
	default:
		form.Set("client_id", client.ID)
	}
	maps.DeleteFunc(form, func(_ string, v []string) bool { return len(v) == 1 && v[0] == "" })
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	req.Header = header
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "application/json")
	resp, err := c.Do(req)
	if err != nil {
		return nil, plain(err)
	}
	defer func() { _ = resp.Body.Close() }() // the body was read as far as needed
	data, err := io.ReadAll(io.LimitReader(resp.Body, bodyLimit))
	if err != nil {
		return nil, fmt.Errorf("read the answer of the token endpoint: %w", err)
	}
	if resp.StatusCode != http.StatusOK {
		refusal := &refusedError{status: resp.StatusCode}
		_ = json.Unmarshal(data, refusal) // without a body, the status is enough
		return nil, refusal
	}
	return data, nil
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

// readTokens decodes an answer. It accepts numbers as text, and the token type in any case.
func readTokens(data []byte, at time.Time) (tokens, error) {
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
	case raw.Type != "" && !strings.EqualFold(raw.Type, "bearer"):
		return tokens{}, fmt.Errorf("the token endpoint returned a token of type %q, which jcode can't use", raw.Type)
	}
	out := tokens{Access: raw.Access, Refresh: raw.Refresh, ID: raw.ID}
	if seconds, err := strconv.ParseFloat(strings.Trim(string(raw.Expires), `"`), 64); err == nil && seconds > 0 {
		out.Expires = at.Add(time.Duration(min(seconds, math.MaxInt32) * float64(time.Second)))
	}
	if raw.Scope != nil {
		out.Scopes = strings.Fields(*raw.Scope)
	}
	return out, nil
}

// methodOf chooses how a client with these settings authenticates.
func methodOf(s Settings, secret string, meta *oauthex.AuthServerMeta) string {
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
func register(ctx context.Context, c *http.Client, meta *oauthex.AuthServerMeta, redirect string, scopes []string) (registered, error) {
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
