package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"jcode/internal/rawjson"
	"jcode/mcp/auth"
)

// oauth reads how to sign in. Other programs write some of the keys in camel case.
func (r *entryReader) oauth(m *hujson.ObjectMember) *OAuth {
	fields, ok := decode[map[string]json.RawMessage](m)
	if !ok {
		r.fail(m, "oauth", "must be an object")
		return nil
	}
	o := &OAuth{}
	var unknown []string
	into := map[string]any{
		"client_id": &o.ClientID, "clientId": &o.ClientID,
		"client_secret_env": &o.ClientSecretEnv, "clientSecretEnv": &o.ClientSecretEnv,
		"client_metadata_url": &o.ClientMetadataURL, "clientMetadataUrl": &o.ClientMetadataURL,
		"scopes":        &o.Scopes,
		"callback_port": &o.CallbackPort, "callbackPort": &o.CallbackPort,
		"grant":                      &o.Grant,
		"token_endpoint_auth_method": &o.AuthMethod, "tokenEndpointAuthMethod": &o.AuthMethod,
		"private_key_env": &o.PrivateKeyEnv,
		"key_id":          &o.KeyID,
		"assertion_env":   &o.AssertionEnv,
		"assertion_file":  &o.AssertionFile,
		"idp":             &o.IDP,
	}
	for key, raw := range fields {
		switch {
		case key == "client_secret" || key == "clientSecret" || key == "private_key" || key == "assertion":
			r.fail(m, "oauth."+key, "secrets do not belong in a file: name the variable that holds it in client_secret_env, private_key_env or assertion_env")
		case key == "scopes" && rawjson.Kind(raw) == "a string": // in the protocol's form
			o.Scopes = strings.Fields(rawjson.String(raw))
		case into[key] == nil:
			unknown = append(unknown, key)
		case json.Unmarshal(raw, into[key]) != nil:
			r.fail(m, "oauth."+key, "can't be "+rawjson.Kind(raw))
		}
	}
	if len(unknown) > 0 {
		r.warn(m, "oauth", "unknown keys are kept and ignored: "+strings.Join(unknown, ", "))
	}
	if err := o.check(); err != nil {
		r.fail(m, "oauth", err.Error())
	}
	return o
}

// check says what is wrong with the settings.
func (o *OAuth) check() error {
	switch o.Grant {
	case "", auth.GrantCode:
	case auth.GrantClient:
		if o.ClientID == "" || o.ClientSecretEnv == "" && o.PrivateKeyEnv == "" {
			return fmt.Errorf("the grant %s needs client_id, and client_secret_env or private_key_env", auth.GrantClient)
		}
	case auth.GrantWorkload:
		if (o.AssertionEnv == "") == (o.AssertionFile == "") {
			return fmt.Errorf("the grant %s needs assertion_env or assertion_file", auth.GrantWorkload)
		}
	case auth.GrantEnterprise:
		if o.ClientID == "" || o.IDP == nil || o.IDP.Issuer == "" || o.IDP.ClientID == "" {
			return fmt.Errorf("the grant %s needs client_id, idp.issuer and idp.client_id", auth.GrantEnterprise)
		}
	default:
		return fmt.Errorf("unknown grant %q: use %s, %s, %s or %s", o.Grant, auth.GrantCode, auth.GrantClient, auth.GrantWorkload, auth.GrantEnterprise)
	}
	switch o.AuthMethod {
	case "", "none", "client_secret_basic", "client_secret_post":
	case "private_key_jwt":
		if o.ClientID == "" || o.PrivateKeyEnv == "" {
			return fmt.Errorf("token_endpoint_auth_method private_key_jwt needs client_id and private_key_env")
		}
	default:
		return fmt.Errorf("unknown token_endpoint_auth_method %q: use client_secret_basic, client_secret_post, private_key_jwt or none", o.AuthMethod)
	}
	if o.CallbackPort < 0 || o.CallbackPort > 65535 {
		return fmt.Errorf("callback_port %d is not a port", o.CallbackPort)
	}
	if u, err := url.Parse(o.ClientMetadataURL); o.ClientMetadataURL != "" && (err != nil || u.Scheme != "https" || strings.Trim(u.Path, "/") == "") {
		return fmt.Errorf("client_metadata_url must be an https address with a path")
	}
	return nil
}

// helper reads the command that prints headers: a list of words, or one word.
func (r *entryReader) helper(m *hujson.ObjectMember) []string {
	if word, ok := decode[string](m); ok {
		if words := strings.Fields(word); len(words) > 0 && !strings.ContainsAny(word, "\"'\\$|;&<>`") {
			return words
		}
		r.fail(m, "headersHelper", "must be a command without quotes and signs of a shell, or a list of words")
		return nil
	}
	list, ok := decode[[]string](m)
	if !ok || len(list) == 0 || list[0] == "" {
		r.fail(m, "headersHelper", "must be a command: a list of words")
		return nil
	}
	return list
}

// settings returns the expanded settings of a target.
func (env Environment) settings(o *OAuth, get func(string) string) (auth.Settings, error) {
	if o == nil {
		return auth.Settings{}, nil
	}
	s := auth.Settings{
		ClientID: get(o.ClientID), MetadataURL: get(o.ClientMetadataURL), CallbackPort: o.CallbackPort, Grant: o.Grant, AuthMethod: o.AuthMethod,
	}
	for _, scope := range o.Scopes {
		s.Scopes = append(s.Scopes, get(scope))
	}
	s.KeyID = get(o.KeyID)
	if o.AssertionFile != "" {
		s.AssertionFile = env.folder(get(o.AssertionFile))
	}
	if p := o.IDP; p != nil {
		s.IDP.Issuer, s.IDP.ClientID = get(p.Issuer), get(p.ClientID)
	}
	into := map[string]*string{
		"client_secret_env": &s.ClientSecret, "private_key_env": &s.PrivateKey, "assertion_env": &s.Assertion,
		"idp.client_secret_env": &s.IDP.ClientSecret, "idp.id_token_env": &s.IDP.IDToken,
	}
	names := o.secrets()
	for _, key := range slices.Sorted(maps.Keys(names)) {
		if env.isWithheld(names[key]) {
			return s, errWithheld(names[key])
		}
		secret, ok := env.lookup(names[key])
		if !ok || secret == "" {
			return s, faultf("environment variable %s (oauth.%s) is not set", names[key], key)
		}
		*into[key] = secret
	}
	return s, nil
}
