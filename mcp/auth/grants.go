package auth

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/golang-jwt/jwt/v5"
	"jcode/internal/paths"
)

// grant gets a token without a person and stores it.
type grant func(ctx context.Context, s Server, need *NeedsSignIn) (record, error)

// personless returns the grant of a server that no person signs in to, nil if one does.
func (k *Keeper) personless(s Server) grant {
	switch {
	case s.Settings.Grant == GrantClient:
		return k.ownToken
	case s.Settings.Grant == GrantWorkload:
		return k.workloadToken
	case s.Settings.Grant == GrantEnterprise && s.Settings.IDP.IDToken != "":
		return k.enterpriseToken
	}
	return nil
}

// NeedsPerson reports whether a person signs in to a server with these settings.
func (s Settings) NeedsPerson() bool { return (*Keeper)(nil).personless(Server{Settings: s}) == nil }

// askFor gets a token by a grant. Tokens that could not be stored are used all the same.
func (k *Keeper) askFor(ctx context.Context, s Server, need *NeedsSignIn, own grant) (record, error) {
	rec, err := detached(ctx, func(ctx context.Context) (record, error) { return own(ctx, s, need) })
	if unkept, ok := errors.AsType[*notKept](err); ok {
		return unkept.rec, nil
	}
	if err != nil && passes(err) {
		err = unavailable("get a token at "+hostOf(need.found.server.TokenEndpoint), err)
	}
	return rec, err
}

// ownToken requests a token with the client's own credentials.
func (k *Keeper) ownToken(ctx context.Context, s Server, need *NeedsSignIn) (record, error) {
	if s.Settings.ClientID == "" || s.Settings.ClientSecret == "" && s.Settings.PrivateKey == "" {
		return record{}, errors.New("the grant client_credentials needs oauth.client_id, and oauth.client_secret_env or oauth.private_key_env")
	}
	return k.withoutPerson(ctx, s, need, url.Values{"grant_type": {GrantClient}, "resource": {need.found.resource}})
}

// withoutPerson requests a token with a form and the client's proof, and stores it.
func (k *Keeper) withoutPerson(ctx context.Context, s Server, need *NeedsSignIn, form url.Values) (record, error) {
	meta := need.found.server
	client := registered{ID: s.Settings.ClientID, Method: methodOf(s.Settings, s.Settings.ClientSecret, meta)} // the secret stays in the settings
	form.Set("scope", strings.Join(need.Scopes, " "))
	kept, err := k.kept(s.key())
	if err != nil {
		return record{}, err
	}
	proof := proofOf(client, s.Settings, meta.Issuer)
	if proof.bind, err = need.found.bind(kept); err != nil {
		return record{}, err
	}
	got, err := k.ask(ctx, s.URL, meta.TokenEndpoint, proof, form)
	if err != nil {
		return record{}, err
	}
	rec := need.record(s, client)
	if err := need.fill(&rec, got, proof.bind); err != nil {
		return record{}, err
	}
	rec.Refresh = ""
	if err := k.keep(ctx, s, rec); err != nil {
		return record{}, &notKept{rec, err}
	}
	return rec, nil
}

// workloadToken requests a token with the assertion of the workload's platform.
func (k *Keeper) workloadToken(ctx context.Context, s Server, need *NeedsSignIn) (record, error) {
	assertion := s.Settings.Assertion
	if file := s.Settings.AssertionFile; file != "" {
		data, err := readStart(file, assertionLimit)
		if err != nil {
			return record{}, fmt.Errorf("oauth.assertion_file: %w", err)
		}
		assertion = strings.TrimSpace(string(data))
	}
	var claims jwt.RegisteredClaims
	if _, _, err := jwt.NewParser().ParseUnverified(assertion, &claims); err != nil { // nothing else leaves this machine
		return record{}, errors.New("oauth.assertion_env or oauth.assertion_file holds no signed assertion (a JWT)")
	}
	return k.withoutPerson(ctx, s, need, url.Values{"grant_type": {grantAssertion}, "assertion": {assertion}, "resource": {need.found.resource}})
}

// assertionLimit is the longest assertion in bytes.
const assertionLimit = 64 << 10

// readStart reads at most limit bytes of a file.
func readStart(path string, limit int64) ([]byte, error) {
	f, err := paths.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	return io.ReadAll(io.LimitReader(f, limit))
}

const (
	grantExchange  = "urn:ietf:params:oauth:grant-type:token-exchange"
	grantAssertion = "urn:ietf:params:oauth:grant-type:jwt-bearer"
	typeIDToken    = "urn:ietf:params:oauth:token-type:id_token"
	typeGrant      = "urn:ietf:params:oauth:token-type:id-jag"
)

// enterpriseToken gets a token through the company's identity provider. It exchanges the
// provider's ID token for a grant, and the grant for a token of the server's authorization
// server. Without an ID token it returns a NeedsSignIn for the provider.
func (k *Keeper) enterpriseToken(ctx context.Context, s Server, need *NeedsSignIn) (record, error) {
	set := s.Settings
	if set.ClientID == "" || set.IDP.Issuer == "" || set.IDP.ClientID == "" {
		return record{}, errors.New("the grant enterprise needs oauth.client_id, oauth.idp.issuer and oauth.idp.client_id")
	}
	idp, meta, err := k.provider(ctx, s)
	if err != nil {
		return record{}, err
	}
	grant, err := k.exchangedGrant(ctx, s, idp, meta, need)
	if err != nil {
		return record{}, err
	}
	return k.withoutPerson(ctx, s, need, url.Values{"grant_type": {grantAssertion}, "assertion": {grant}})
}

// exchangedGrant exchanges an ID token at the provider for a grant for a server. If the ID token
// is refused, it is renewed once where possible.
func (k *Keeper) exchangedGrant(ctx context.Context, s, idp Server, meta *authServer, need *NeedsSignIn) (string, error) {
	kept, err := k.kept(idp.key())
	if err != nil {
		return "", err
	}
	given := s.Settings.IDP.IDToken
	token := cmp.Or(given, kept.ID)
	client := registered{ID: idp.Settings.ClientID, Method: methodOf(idp.Settings, idp.Settings.ClientSecret, meta)}
	for renewed := false; token != ""; renewed = true {
		data, err := k.post(ctx, idp.URL, meta.TokenEndpoint, proofOf(client, idp.Settings, meta.Issuer), url.Values{
			"grant_type": {grantExchange}, "requested_token_type": {typeGrant}, "subject_token": {token}, "subject_token_type": {typeIDToken},
			"audience": {need.found.server.Issuer}, "resource": {need.found.resource}, "scope": {strings.Join(need.Scopes, " ")},
		})
		if err == nil {
			return readGrant(data)
		}
		if passes(err) {
			return "", unavailable("get a grant of the identity provider "+hostOf(meta.Issuer), err)
		}
		if !isRefusal(err, "invalid_grant", "invalid_request", "invalid_token") || given != "" {
			return "", fmt.Errorf("the identity provider %s: %w", hostOf(meta.Issuer), err)
		}
		if renewed || !kept.renewable() {
			break
		}
		if kept, err = k.refresh(ctx, idp, kept.Access); passes(err) {
			return "", unavailable("renew the sign-in to the identity provider "+hostOf(meta.Issuer), err)
		}
		if err != nil {
			break // a person has to sign in again
		}
		token = kept.ID
	}
	return "", providerSignIn(s, meta, kept)
}

// readGrant decodes the answer of a token exchange.
func readGrant(data []byte) (string, error) {
	var answer struct {
		Token string `json:"access_token"`
		Type  string `json:"issued_token_type"`
	}
	if json.Unmarshal(data, &answer) != nil || answer.Token == "" || answer.Type != typeGrant {
		return "", errors.New("the identity provider's answer contains no grant for the server")
	}
	return answer.Token, nil
}

// provider returns the identity provider of a server's settings, as a server to sign in to,
// and its metadata.
func (k *Keeper) provider(ctx context.Context, s Server) (Server, *authServer, error) {
	p := s.Settings.IDP
	idp := Server{Name: s.Name, URL: p.Issuer, idp: true, Settings: Settings{
		ClientID: p.ClientID, ClientSecret: p.ClientSecret, CallbackPort: s.Settings.CallbackPort, Scopes: []string{"openid", "offline_access"},
	}}
	meta, err := providerMetadata(ctx, k.client(p.Issuer), p.Issuer)
	if err != nil {
		return idp, nil, fmt.Errorf("read the metadata of the identity provider %s: %w", p.Issuer, err)
	}
	return idp, meta, nil
}

// providerMetadata reads the OpenID configuration of an issuer. Providers often don't list PKCE
// there, but it is sent in any case.
func providerMetadata(ctx context.Context, c *http.Client, issuer string) (*authServer, error) {
	base := strings.TrimSuffix(issuer, "/")
	if err := checkEndpoint("the identity provider", base); err != nil {
		return nil, err
	}
	var meta authServer
	if err := getJSON(ctx, c, base+"/.well-known/openid-configuration", &meta); err != nil {
		return nil, err
	}
	if strings.TrimSuffix(meta.Issuer, "/") != base {
		return nil, fmt.Errorf("it is about another issuer: %q", meta.Issuer)
	}
	return &meta, checkEndpoints(&meta)
}

// providerSignIn returns the NeedsSignIn for an identity provider.
func providerSignIn(s Server, meta *authServer, kept record) *NeedsSignIn {
	return &NeedsSignIn{
		Server: s.Name, Address: s.URL, Host: hostOf(meta.AuthorizationEndpoint), Scopes: []string{"openid", "offline_access"}, Interrupted: kept.Interrupted,
		found: found{server: meta}, since: kept.Since,
	}
}
