package auth

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// The rights that a call needed are asked for by the next sign-in, in whatever process, until it has them. They are
// asked for again when a person has to sign in anew.
func TestRightsOfARefusedCallAreAskedForByTheNextSignIn(t *testing.T) {
	t.Parallel()
	r := newRig(t, "stepup")
	r.mustSignIn(&browser{})
	var needs *NeedsSignIn
	for range 2 {
		if _, err := r.call(r.k.For(r.server)); !errors.As(err, &needs) || !needs.StepUp {
			t.Fatalf("%v", err)
		}
	}
	r.k = testKeeper(r.k.dir) // `jcode mcp login`
	b := &browser{}
	r.mustSignIn(b)
	if got := b.visits[0]; !got.StepUp || strings.Join(got.Scopes, " ") != "read offline_access write" {
		t.Errorf("%+v", got)
	}
	if !r.open() {
		t.Error("not let in")
	}
	r.srv.Revoke()
	if _, err := r.call(r.k.For(r.server)); !errors.As(err, &needs) || needs.StepUp || !slices.Contains(needs.Scopes, "write") {
		t.Errorf("%v", err)
	}
	if had, err := r.k.Forget(t.Context(), r.server); !had || err != nil {
		t.Errorf("%v %v", had, err)
	}
	r.mustSignIn(b)
	if got := b.visits[1]; got.StepUp || slices.Contains(got.Scopes, "write") {
		t.Errorf("a sign-out did not forget them: %+v", got)
	}
}

// The rights that a request without a sign-in needed are asked for too, though the server answers other requests
// without one, as the one that a sign-in looks with.
func TestRightsOfARefusedRequestAreAskedForByTheFirstSignIn(t *testing.T) {
	t.Parallel()
	r := newRig(t, "openstart")
	if _, err := r.call(r.k.For(r.server)); err == nil {
		t.Fatal("let in")
	}
	r.k = testKeeper(r.k.dir)
	if had, err := r.k.Forget(t.Context(), Server{Name: "other", URL: r.server.URL + "/other"}); had || err != nil {
		t.Errorf("%v %v", had, err)
	}
	b := &browser{}
	r.mustSignIn(b)
	if got := strings.Join(b.visits[0].Scopes, " "); got != "files:read offline_access" {
		t.Error(got)
	}
	if !r.open() {
		t.Error("not let in")
	}
}

// Scopes that the authorization server refuses are not asked for again.
func TestUnknownRightsAreAskedForOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t, "unknownscope")
	r.mustSignIn(&browser{})
	if _, err := r.call(r.k.For(r.server)); err == nil {
		t.Fatal("let in")
	}
	if err := r.signIn(&browser{}); err == nil || !strings.Contains(err.Error(), "invalid_scope") {
		t.Errorf("%v", err)
	}
	r.mustSignIn(&browser{})
}

// A renewal by another process does not end a sign-in: it brings no new rights.
func TestRenewalElsewhereDoesNotEndASignIn(t *testing.T) {
	t.Parallel()
	r := newRig(t, "stepup")
	r.mustSignIn(&browser{})
	if _, err := r.call(r.k.For(r.server)); err == nil {
		t.Fatal("let in")
	}
	need, err := r.k.Look(t.Context(), r.server)
	if err != nil {
		t.Fatal(err)
	}
	r.srv.Expire()
	other := testKeeper(r.k.dir)
	if _, err := r.call(other.For(r.server)); err == nil || r.srv.Seen("refresh_token") != 1 {
		t.Fatalf("%v", err)
	}
	b := &browser{}
	if err := r.k.SignIn(t.Context(), r.server, need, b); err != nil || len(b.visits) != 1 {
		t.Errorf("%d visits, %v", len(b.visits), err)
	}
	if !r.open() {
		t.Error("not let in")
	}
}
