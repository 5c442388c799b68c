package auth

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
)

// Tokens are bound to a key where the server asks for it: every request has a fresh proof, with what the server
// says about its clock and its nonces. The key is kept with the sign-in, for other processes and for renewals.
func TestBoundTokensAreProvenWithEveryRequest(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"dpop", "dpopnonce", "dpopclock"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, mode)
			b := &browser{}
			r.mustSignIn(b)
			if !strings.Contains(b.visits[0].URL, "dpop_jkt=") {
				t.Error("the code is not bound to the key")
			}
			for range 12 {
				if !r.open() {
					t.Fatal("not let in")
				}
			}
			r.srv.Expire()
			r.k = testKeeper(r.k.dir) // another process
			for range 3 {
				if !r.open() {
					t.Fatal("another process is not let in")
				}
			}
			if n := r.srv.Seen("refresh_token"); n == 0 {
				t.Error("not renewed")
			}
			if len(b.visits) != 1 {
				t.Errorf("%d visits", len(b.visits))
			}
		})
	}
}

// A client without a person has bound tokens too.
func TestBoundTokensOfClientCredentials(t *testing.T) {
	t.Parallel()
	r := newRig(t, "dpopnonce")
	r.server.Settings = Settings{Grant: GrantClient, ClientID: "robot", ClientSecret: "s3cret"}
	for range 2 {
		if !r.open() {
			t.Fatal("not let in")
		}
		r.srv.Expire()
	}
}

// A server that only accepts bound tokens gets no other ones, and one that does not ask for them gets none.
func TestTokensAreBoundOnlyWhereTheServerAsksForIt(t *testing.T) {
	t.Parallel()
	r := newRig(t, "dpopunbound")
	if err := r.signIn(&browser{}); err == nil || !strings.Contains(err.Error(), "not bound to a key") {
		t.Error(err)
	}
	r = newRig(t, "offersdpop")
	r.mustSignIn(&browser{})
	rec, err := fileStore{filepath.Join(r.k.dir, tokenFile)}.get(r.server.key())
	if !r.open() || err != nil || rec.Bound || rec.Key != nil {
		t.Errorf("%+v %v", rec, err)
	}
}

// A key is made for an algorithm that both sides have, or there is an error that names them.
func TestKeyOfBoundTokensHasACommonAlgorithm(t *testing.T) {
	t.Parallel()
	for alg, lists := range map[string][][]string{
		"ES256": {nil, nil}, "ES384": {{"RS256", "ES384"}, {"ES384", "ES256"}}, "EdDSA": {{"EdDSA"}, nil}, "": {{"RS256"}, {"ES256"}},
	} {
		key, err := newBoundKey(lists...)
		if alg == "" {
			if err == nil || !strings.Contains(err.Error(), "RS256") {
				t.Error(err)
			}
			continue
		}
		if err != nil || key.method.Alg() != alg {
			t.Fatalf("%s: %v", alg, err)
		}
		der, err := key.encode()
		if err != nil {
			t.Fatal(err)
		}
		again, err := readBoundKey(der)
		if err != nil || again.method.Alg() != alg {
			t.Fatalf("%s: %v", alg, err)
		}
		one, err1 := key.thumbprint()
		other, err2 := again.thumbprint()
		if one != other || len(one) != 43 || errors.Join(err1, err2) != nil {
			t.Errorf("%s: %s %s %v %v", alg, one, other, err1, err2)
		}
	}
}
