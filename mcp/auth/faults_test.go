package auth

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A request to an endpoint that never answers ends at a limit, and at once if the person gives up.
// Nothing of it is stored.
func TestEndpointsThatNeverAnswerEnd(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"slowmeta", "slowtoken"} {
		for _, gaveUp := range []bool{false, true} {
			r := newRig(t, mode)
			ctx, cancel := context.WithCancel(t.Context())
			r.k.client = func(string) *http.Client {
				c := throughProxy(r.server.URL)
				c.Timeout = 200 * time.Millisecond
				if gaveUp {
					c.Timeout = time.Hour
					time.AfterFunc(100*time.Millisecond, cancel)
				}
				return c
			}
			done := make(chan error, 1)
			go func() {
				need, err := r.k.Look(ctx, r.server)
				if err == nil {
					err = r.k.SignIn(ctx, r.server, need, &browser{})
				}
				done <- err
			}()
			select {
			case err := <-done:
				if err == nil {
					t.Errorf("%s: signed in", mode)
				}
			case <-time.After(requestLimit):
				t.Errorf("%s, given up %v: it waits", mode, gaveUp)
			}
			cancel()
			r.srv.Issuer.CloseClientConnections() // ends the requests that nobody waits for
			if _, err := os.Stat(filepath.Join(r.k.dir, tokenFile)); err == nil {
				t.Errorf("%s: something was kept", mode)
			}
		}
	}
}

// A redirect of the token endpoint is not followed, because the request contains the code and the
// verifier.
func TestTokenEndpointThatSendsElsewhereIsNotFollowed(t *testing.T) {
	t.Parallel()
	got := make(chan struct{}, 8)
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { got <- struct{}{} }))
	t.Cleanup(elsewhere.Close)
	for mode, want := range map[string]string{"tokenaway": "status 307", "tokenhtml": "not a JSON object"} {
		r := newRig(t, mode)
		r.srv.Elsewhere = elsewhere.URL
		if err := r.signIn(&browser{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", mode, err)
		}
	}
	if len(got) > 0 {
		t.Error("the form went to another address")
	}
}

// The client is registered again after its registration has expired, or if the token endpoint
// answers with 404.
func TestRegistrationThatEndedIsMadeAnew(t *testing.T) {
	t.Parallel()
	r := newRig(t, "forgets404")
	r.mustSignIn(&browser{})
	r.srv.Expire()
	var needs *NeedsSignIn
	if _, err := r.call(r.k.For(r.server)); !errors.As(err, &needs) || needs.Why != nil {
		t.Fatalf("%v", err)
	}
	r.mustSignIn(&browser{})
	if n := r.srv.Seen("/register"); n != 2 || !r.open() {
		t.Errorf("registered %d times", n)
	}
	store := fileStore{filepath.Join(r.k.dir, tokenFile)}
	rec, err := store.get(r.server.key())
	if err != nil {
		t.Fatal(err)
	}
	rec.Client.Expires = time.Now().Add(-time.Hour)
	if err := store.put(r.server.key(), rec); err != nil {
		t.Fatal(err)
	}
	r.mustSignIn(&browser{})
	if n := r.srv.Seen("/register"); n != 3 {
		t.Errorf("registered %d times", n)
	}
}

// waiting is a person whose dialog stays open.
type waiting struct{ shown chan struct{} }

func (w waiting) Visit(ctx context.Context, _ Visit) (string, error) {
	close(w.shown)
	<-ctx.Done()
	return "", ctx.Err()
}

// One sign-in is enough for several processes that need it: the dialog of the other one closes, and
// one that was not shown yet is not shown.
func TestTwoSignInsAtOnceNeedOneVisit(t *testing.T) {
	t.Parallel()
	r := newRig(t, "ok")
	r.k.lookEvery = 10 * time.Millisecond
	need, err := r.k.Look(t.Context(), r.server)
	if err != nil {
		t.Fatal(err)
	}
	first := waiting{make(chan struct{})}
	done := make(chan error, 1)
	go func() { done <- r.k.SignIn(t.Context(), r.server, need, first) }()
	<-first.shown
	other := *r
	other.k = testKeeper(r.k.dir)
	other.mustSignIn(&browser{})
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(requestLimit):
		t.Fatal("the dialog stays open")
	}
	late := &browser{}
	if err := r.k.SignIn(t.Context(), r.server, need, late); err != nil || len(late.visits) != 0 {
		t.Errorf("asked again: %d visits, %v", len(late.visits), err)
	}
	// A request from now on asks for a new one.
	r.mustSignIn(late)
	if len(late.visits) != 1 || !r.open() {
		t.Errorf("%d visits", len(late.visits))
	}
}
