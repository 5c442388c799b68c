package auth

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"jcode/internal/testkit/mcptest"
)

// A client with a private key authenticates by an assertion whose audience is its authorization
// server, with every usual kind of key. The key is not stored.
func TestClientProvesItselfBySignedAssertion(t *testing.T) {
	t.Parallel()
	pkcs8 := func(key any) string {
		der, err := x509.MarshalPKCS8PrivateKey(key)
		if err != nil {
			t.Fatal(err)
		}
		return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
	}
	curve := func(c elliptic.Curve) *ecdsa.PrivateKey {
		key, err := ecdsa.GenerateKey(c, rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		return key
	}
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	_, edwards, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	p256, p384 := curve(elliptic.P256()), curve(elliptic.P384())
	sec1, err := x509.MarshalECPrivateKey(p256)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		key  crypto.Signer
		text string
		alg  string
	}{
		"RSA":           {rsaKey, pkcs8(rsaKey), "RS256"},
		"RSA, PKCS #1":  {rsaKey, string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(rsaKey)})), "RS256"},
		"P-256":         {p256, pkcs8(p256), "ES256"},
		"P-256, SEC 1":  {p256, string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: sec1})), "ES256"},
		"P-384":         {p384, pkcs8(p384), "ES384"},
		"Ed25519":       {edwards, pkcs8(edwards), "EdDSA"},
		"blanks around": {p256, "\n\n" + pkcs8(p256) + "\n", "ES256"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, "ok")
			r.server.Settings = Settings{Grant: GrantClient, ClientID: "robot", PrivateKey: c.text, KeyID: "key-1"}
			if !r.open() {
				t.Fatal("not let in")
			}
			form := r.srv.Forms()[0]
			var claims jwt.RegisteredClaims
			token, err := jwt.ParseWithClaims(form.Get("client_assertion"), &claims, func(*jwt.Token) (any, error) { return c.key.Public(), nil },
				jwt.WithValidMethods([]string{c.alg}), jwt.WithAudience(r.srv.Issuer.URL), jwt.WithIssuer("robot"), jwt.WithSubject("robot"), jwt.WithExpirationRequired())
			if err != nil || token.Header["kid"] != "key-1" || claims.ID == "" || form.Get("client_assertion_type") != assertionType || form.Has("client_secret") {
				t.Errorf("%v: %v", form, err)
			}
			kept, err := os.ReadFile(filepath.Join(r.k.dir, tokenFile))
			if err != nil || strings.Contains(string(kept), "PRIVATE KEY") {
				t.Errorf("the key was written: %v", err)
			}
		})
	}
}

func TestKeyThatCannotSignIsNamed(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":        "needs oauth.client_id",
		"hunter2": "contains no private key in PEM format",
		"-----BEGIN PRIVATE KEY-----\naHVudGVyMg==\n-----END PRIVATE KEY-----\n":                 "contains no private key that can be read",
		"-----BEGIN OPENSSH PRIVATE KEY-----\naHVudGVyMg==\n-----END OPENSSH PRIVATE KEY-----\n": "contains no private key that can be read",
	} {
		r := newRig(t, "ok")
		r.server.Settings = Settings{Grant: GrantClient, ClientID: "robot", PrivateKey: text}
		_, err := r.call(r.k.For(r.server))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "aHVud") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func enterpriseRig(t *testing.T) (*rig, *mcptest.Provider) {
	t.Helper()
	r, p := newRig(t, "ok"), mcptest.NewProvider()
	t.Cleanup(func() { p.CloseClientConnections(); p.Close() })
	r.server.Settings = Settings{
		Grant: GrantEnterprise, ClientID: "robot", ClientSecret: "s3cret",
		IDP: IDP{Issuer: p.URL, ClientID: "jcode-at-idp"},
	}
	return r, p
}

// A person signs in to the company's provider once. Every server that trusts it can be used then,
// without the person, until the provider ends the session.
func TestOneSignInToTheProviderOpensAllServers(t *testing.T) {
	t.Parallel()
	r, p := enterpriseRig(t)
	second := newRig(t, "ok")
	second.k, second.server.Settings = r.k, r.server.Settings
	var needs *NeedsSignIn
	if _, err := r.call(r.k.For(r.server)); !errors.As(err, &needs) || needs.Why != nil || "http://"+needs.Host != p.URL {
		t.Fatalf("%v", err)
	}
	b := &browser{}
	r.mustSignIn(b)
	if !r.open() || !second.open() {
		t.Error("not let in")
	}
	if len(b.visits) != 1 || !slices.Contains(b.visits[0].Scopes, "openid") || r.srv.Seen("/authorize") != 0 {
		t.Errorf("%+v", b.visits)
	}
	p.Expire(false)
	r.srv.Expire()
	if !r.open() || p.Seen("refresh_token") != 1 {
		t.Errorf("the ID token was renewed %d times", p.Seen("refresh_token"))
	}
	p.Expire(true)
	r.srv.Expire()
	if _, err := r.call(r.k.For(r.server)); !errors.As(err, &needs) || needs.Why != nil || "http://"+needs.Host != p.URL {
		t.Errorf("%v", err)
	}
	r.mustSignIn(b)
	if !r.open() || len(b.visits) != 2 {
		t.Errorf("%d visits", len(b.visits))
	}
	if had, err := r.k.Forget(t.Context(), r.server); !had || err != nil || r.open() {
		t.Errorf("a sign-out left a way in: %v %v", had, err)
	}
}

func TestGivenIDTokenNeedsNobody(t *testing.T) {
	t.Parallel()
	r, p := enterpriseRig(t)
	r.server.Settings.IDP.IDToken = p.IDToken()
	if !r.open() || p.Seen("/authorize") != 0 {
		t.Error("not let in")
	}
	r.srv.Expire()
	p.Expire(true)
	var needs *NeedsSignIn
	if _, err := r.call(r.k.For(r.server)); !errors.As(err, &needs) || needs.Why == nil || !strings.Contains(err.Error(), "invalid_grant") {
		t.Errorf("%v", err)
	}
}

func TestLyingProviderIsRefused(t *testing.T) {
	t.Parallel()
	r, p := enterpriseRig(t)
	for issuer, want := range map[string]string{
		"http://idp.example": "is not https",
		p.URL + "/tenant":    "identity provider",
		r.srv.Issuer.URL:     "identity provider",
	} {
		r.server.Settings.IDP.Issuer = issuer
		if _, err := r.call(r.k.For(r.server)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", issuer, err)
		}
	}
}

// dyingStore is the file of a process that ends after some writes.
type dyingStore struct {
	fileStore
	left int
}

func (s *dyingStore) put(key string, r record) error {
	if s.left--; s.left < 0 {
		return errors.New("the process has ended")
	}
	return s.fileStore.put(key, r)
}

// If a process ends between the answer of the authorization server and the write of the new refresh
// token, the person is told why and signs in again, unless the old token is still valid.
func TestRenewalThatWasCutOffCostsOneVisitAtMost(t *testing.T) {
	t.Parallel()
	for mode, visits := range map[string]int{"ok": 1, "norotate": 0} {
		r := newRig(t, mode)
		r.mustSignIn(&browser{})
		r.srv.Expire()
		dying := testKeeper(r.k.dir)
		dying.store = &dyingStore{fileStore{filepath.Join(r.k.dir, tokenFile)}, 1}
		live := dying.For(r.server)
		if status, err := r.call(live); err != nil || status == http.StatusUnauthorized {
			t.Errorf("%s: the tokens are lost for the process that has them: %d %v", mode, status, err)
		}
		r.srv.Expire()
		next := testKeeper(r.k.dir)
		_, err := r.call(next.For(r.server))
		if visits == 0 {
			if err != nil {
				t.Errorf("%s: %v", mode, err)
			}
			continue
		}
		for range 2 {
			var needs *NeedsSignIn
			if _, err := r.call(next.For(r.server)); !errors.As(err, &needs) || !strings.Contains(err.Error(), "the last renewal was cut off before its answer was kept") {
				t.Errorf("%s: %v", mode, err)
			}
		}
		if n := r.srv.Seen("refresh_token"); n != 2 {
			t.Errorf("asked %d times with a token that was replaced", n)
		}
		r.k = next
		r.mustSignIn(&browser{})
		if !r.open() {
			t.Error("not let in after one visit")
		}
		r.srv.Revoke()
		if _, err := r.call(next.For(r.server)); err == nil || strings.Contains(err.Error(), "cut off") {
			t.Errorf("a later refusal is blamed on it: %v", err)
		}
	}
}

// A renewal that was never sent does not count as interrupted.
func TestRenewalThatReachedNobodyIsNotCutOff(t *testing.T) {
	t.Parallel()
	r := newRig(t, "ok")
	r.srv.Lifetime(40)
	r.mustSignIn(&browser{})
	r.k.now = func() time.Time { return time.Now().Add(35 * time.Second) }
	r.srv.Issuer.Close()
	if !r.open() {
		t.Error("the old token still counts")
	}
	rec, err := fileStore{filepath.Join(r.k.dir, tokenFile)}.get(r.server.key())
	if err != nil || !rec.Renewing.IsZero() || rec.Refresh == "" || rec.Refused {
		t.Errorf("%+v %v", rec, err)
	}
}

// A workload presents the assertion of its platform, which is read anew for each token. Nothing but an assertion
// leaves this machine.
func TestWorkloadPresentsItsAssertion(t *testing.T) {
	t.Parallel()
	r := newRig(t, "workload")
	file := filepath.Join(t.TempDir(), "assertion")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	assertion := func(id string) string {
		text, err := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.RegisteredClaims{ID: id}).SignedString([]byte("platform"))
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	r.server.Settings = Settings{Grant: GrantWorkload, ClientID: "job", AssertionFile: file}
	for _, id := range []string{"first", "second"} {
		write(assertion(id) + "\n")
		if !r.open() {
			t.Error("not let in")
		}
		if forms := r.srv.Forms(); forms[len(forms)-1].Get("assertion") != assertion(id) {
			t.Errorf("%v", forms)
		}
		r.srv.Expire()
	}
	asked := len(r.srv.Forms())
	write("-----BEGIN PRIVATE KEY-----")
	if _, err := r.call(r.k.For(r.server)); err == nil || !strings.Contains(err.Error(), "assertion_file") || strings.Contains(err.Error(), "BEGIN") {
		t.Errorf("%v", err)
	}
	if len(r.srv.Forms()) != asked {
		t.Error("it was sent")
	}
}
