package auth

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

// nobody is a person who must not be sent anywhere.
type nobody struct{ t *testing.T }

func (n nobody) Visit(_ context.Context, v Visit) (string, error) {
	n.t.Errorf("sent to %s", v.URL)
	return "", ErrDeclined
}

// A sign-in for a grant that needs no person gets the token without one.
func TestSignInOfAClientVisitsNoPage(t *testing.T) {
	t.Parallel()
	r := newRig(t, "ok")
	r.server.Settings = Settings{Grant: GrantClient, ClientID: "robot", ClientSecret: "s3cret"}
	r.mustSignIn(nobody{t})
	if !r.open() || r.srv.Seen("client_credentials") != 1 {
		t.Errorf("asked %d times", r.srv.Seen("client_credentials"))
	}
	r.server.Settings.ClientSecret = "wrong"
	if err := r.signIn(nobody{t}); err == nil || !strings.Contains(err.Error(), "invalid_client") {
		t.Error(err)
	}
}

// An authorization server that can't answer at the moment is asked again for a short while. If it still can't, that is
// what the request says: nobody has to sign in, and it goes on when the server answers again.
func TestServerThatCantAnswerAtTheMomentNeedsNoSignIn(t *testing.T) {
	t.Parallel()
	person, robot := Settings{}, Settings{Grant: GrantClient, ClientID: "robot", ClientSecret: "s3cret"}
	for name, settings := range map[string]Settings{"refresh_token": person, "client_credentials": robot} {
		r := newRig(t, "ok")
		r.server.Settings = settings
		p := Person(nobody{t})
		if name == "refresh_token" {
			p = &browser{}
		}
		r.mustSignIn(p)
		live := r.k.For(r.server)
		if _, err := r.call(live); err != nil {
			t.Fatal(err)
		}
		before := r.srv.Seen(name)
		r.srv.Expire()
		r.srv.FailTokens(2)
		if _, err := r.call(live); err != nil || r.srv.Seen(name) != before+3 {
			t.Errorf("%s: asked %d times: %v", name, r.srv.Seen(name)-before, err)
		}
		r.srv.Expire()
		r.srv.FailTokens(1000)
		for _, s := range []*Session{live, testKeeper(r.k.dir).For(r.server)} {
			var gone *Unavailable
			var needs *NeedsSignIn
			_, err := r.call(s)
			if !errors.As(err, &gone) || errors.As(err, &needs) || !strings.Contains(err.Error(), "status 503") || !strings.Contains(err.Error(), hostOf(r.srv.Issuer.URL)) {
				t.Errorf("%s: %v", name, err)
			}
		}
		r.srv.FailTokens(0)
		if _, err := r.call(live); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The same is true of an authorization server that can't be reached, and of its metadata.
func TestServerThatCantBeReachedNeedsNoSignIn(t *testing.T) {
	t.Parallel()
	r := newRig(t, "ok")
	r.mustSignIn(&browser{})
	r.srv.Expire()
	r.srv.Issuer.Close()
	var gone *Unavailable
	if _, err := r.call(r.k.For(r.server)); !errors.As(err, &gone) || !strings.Contains(err.Error(), "renew the token") {
		t.Errorf("%v", err)
	}
	if _, err := r.k.Forget(t.Context(), r.server); err != nil {
		t.Fatal(err)
	}
	if _, err := r.call(r.k.For(r.server)); !errors.As(err, &gone) || !strings.Contains(err.Error(), "find out how to sign in") {
		t.Errorf("%v", err)
	}
}

// While a token is still valid, a renewal that fails is not tried with every request.
func TestRenewalThatFailsIsNotTriedWithEveryRequest(t *testing.T) {
	t.Parallel()
	r := newRig(t, "ok")
	r.srv.Lifetime(30)
	r.mustSignIn(&browser{})
	r.srv.FailTokens(1000)
	start := r.k.now()
	r.k.now = func() time.Time { return start.Add(25 * time.Second) }
	live := r.k.For(r.server)
	for range 5 {
		if _, err := r.call(live); err != nil {
			t.Error(err)
		}
	}
	if n := r.srv.Seen("refresh_token"); n != askTries {
		t.Errorf("asked %d times", n)
	}
}
