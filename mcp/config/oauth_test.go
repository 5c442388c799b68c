package config

import (
	"slices"
	"strings"
	"testing"
)

// The sign-in settings of an entry are checked when it is read.
func TestSettingsOfASignInAreChecked(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"client_id":"c","client_secret_env":"S"}`:                                                     "",
		`{"grant":"client_credentials","client_id":"c","private_key_env":"K","key_id":"k"}`:             "",
		`{"grant":"enterprise","client_id":"c","idp":{"issuer":"https://idp.example","client_id":"i"}}`: "",
		`{"client_id":"c","private_key_env":"K","token_endpoint_auth_method":"private_key_jwt"}`:        "",
		`{"grant":"client_credentials","client_id":"c"}`:                                                "needs client_id, and client_secret_env or private_key_env",
		`{"grant":"enterprise","client_id":"c"}`:                                                        "needs client_id, idp.issuer and idp.client_id",
		`{"grant":"enterprise","client_id":"c","idp":{"issuer":"https://idp.example"}}`:                 "needs client_id, idp.issuer and idp.client_id",
		`{"grant":"password"}`:                             "unknown grant",
		`{"token_endpoint_auth_method":"private_key_jwt"}`: "needs client_id and private_key_env",
		`{"token_endpoint_auth_method":"tls_client_auth"}`: "unknown token_endpoint_auth_method",
		`{"private_key":"-----BEGIN"}`:                     "secrets do not belong in a file",
		`{"idp":"https://idp.example"}`:                    "can't be a string",
		`{"callback_port":70000}`:                          "is not a port",
	} {
		e, err := ParseJSON("s", []byte(`{"url":"https://mcp.example/mcp","oauth":`+in+`}`))
		if err == nil {
			err = e.Err
		}
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", in, err)
		}
	}
}

// Secrets come from variables and are never shown, and withheld variables are not read.
func TestSecretsOfASignInComeFromVariables(t *testing.T) {
	t.Parallel()
	e, err := ParseJSON("s", []byte(`{"url":"https://mcp.example/mcp","oauth":{"grant":"enterprise","client_id":"c","client_secret_env":"S","private_key_env":"K",
		"idp":{"issuer":"https://${TENANT}.example","client_id":"i","client_secret_env":"IS","id_token_env":"ID"}}}`))
	if err != nil || e.Err != nil {
		t.Fatal(err, e.Err)
	}
	e.Source.Scope = ScopeUser
	env := Environment{Base: []string{"TENANT=idp", "S=one", "K=two", "IS=three", "ID=four"}}
	got, err := env.Resolve(e)
	if err != nil {
		t.Fatal(err)
	}
	set := got.OAuth
	if set.ClientSecret != "one" || set.PrivateKey != "two" || set.IDP.ClientSecret != "three" || set.IDP.IDToken != "four" || set.IDP.Issuer != "https://idp.example" {
		t.Errorf("%+v", set)
	}
	for _, secret := range []string{"one", "two", "three", "four"} {
		if !slices.Contains(got.Secrets, secret) {
			t.Errorf("%q may be shown", secret)
		}
	}
	if names := Variables(e.Target); !slices.Equal(names, []string{"ID", "IS", "K", "S", "TENANT"}) {
		t.Errorf("the question names %v", names)
	}
	env.Withheld = []string{"ID"}
	if _, err := env.Resolve(e); err == nil || !strings.Contains(err.Error(), "ID") {
		t.Errorf("a withheld variable was read: %v", err)
	}
	env.Withheld, env.Base = nil, env.Base[:4]
	if _, err := env.Resolve(e); err == nil || !strings.Contains(err.Error(), "environment variable ID (oauth.idp.id_token_env) is not set") {
		t.Errorf("%v", err)
	}
}
