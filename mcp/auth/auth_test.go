package auth

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zalando/go-keyring"

	"jcode/internal/testkit/mcptest"
)

func TestSignInIsKeptForEveryProcess(t *testing.T) {
	t.Parallel()
	r := newRig(t, "challenged")
	var needs *NeedsSignIn
	if _, err := r.call(r.k.For(r.server)); !errors.As(err, &needs) || needs.Host != strings.TrimPrefix(r.srv.Issuer.URL, "http://") {
		t.Fatalf("%v", err)
	}
	b := &browser{}
	r.mustSignIn(b)
	if !r.open() {
		t.Error("the server does not let us in")
	}
	other := testKeeper(r.k.dir) // another process
	if status, err := r.call(other.For(r.server)); err != nil || status == http.StatusUnauthorized {
		t.Errorf("%d %v", status, err)
	}
	v := b.visits[0]
	q, err := url.Parse(v.URL)
	if err != nil || strings.Join(v.Scopes, " ") != "files:read offline_access" || q.Query().Get("scope") != "files:read offline_access" ||
		q.Query().Get("code_challenge_method") != "S256" || q.Query().Get("resource") != r.server.URL {
		t.Errorf("%+v", v)
	}
	info, err := os.Stat(filepath.Join(r.k.dir, tokenFile))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	// The same client signs in again, unless another program has taken its port; another address gets no token.
	r.mustSignIn(b)
	again, err := url.Parse(b.visits[1].URL)
	if err != nil {
		t.Fatal(err)
	}
	same := again.Query().Get("redirect_uri") == q.Query().Get("redirect_uri")
	if n := r.srv.Seen("/register"); same != (n == 1) || n > 2 {
		t.Errorf("registered %d times, with the same address: %v", n, same)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.srv.URL+"/other", nil)
	if err != nil {
		t.Fatal(err)
	}
	if token, err := r.k.For(Server{Name: "s", URL: r.srv.URL + "/other"}).Authorize(t.Context(), req); token != "" || err != nil || len(req.Header) > 0 {
		t.Errorf("a token for another address: %q %v", token, err)
	}
	if had, err := r.k.Forget(t.Context(), r.server); !had || err != nil || r.open() {
		t.Errorf("forgotten: %v %v", had, err)
	}
}

func TestPastedAddressEndsTheSignIn(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]pasting{
		"address":      func(u *url.URL) string { return "  " + u.String() + "\n" },
		"query":        func(u *url.URL) string { return "code=" + u.Query().Get("code") + "&state=" + u.Query().Get("state") },
		"code":         func(u *url.URL) string { return u.Query().Get("code") },
		"wrong state:": func(u *url.URL) string { return strings.Replace(u.String(), "state=", "state=x", 1) },
		"nonsense:":    func(*url.URL) string { return "I am done" },
	} {
		r := newRig(t, "ok")
		err := r.signIn(p)
		if wrong := strings.HasSuffix(name, ":"); (err != nil) != wrong || r.open() == wrong {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFaultsOfASignInAreNamed(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]string{
		"issuer":     "does not match",
		"endpoint":   "token_endpoint",
		"nopkce":     "PKCE",
		"resource":   `about another resource: "https://other.example/mcp"`,
		"noservers":  "names no authorization server",
		"html":       "not with JSON",
		"loop":       "redirected more than",
		"insecure":   "http://auth.example is not https",
		"iss":        `another authorization server answered: "https://evil.example"`,
		"noiss":      "iss is missing",
		"denied":     "access_denied: the person said no",
		"noregister": "set oauth.client_id",
		"mac":        `type "mac"`,
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, mode)
			err := r.signIn(&browser{})
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v", err)
			}
			if r.open() {
				t.Error("the server lets us in")
			}
		})
	}
}

func TestPersonWhoClosesTheDialogEndsIt(t *testing.T) {
	t.Parallel()
	r := newRig(t, "ok")
	if err := r.signIn(closing{}); !errors.Is(err, ErrDeclined) {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	need, err := r.k.Look(ctx, r.server)
	if err != nil {
		t.Fatal(err)
	}
	cancel(errors.New("interrupted"))
	if err := r.k.SignIn(ctx, r.server, need, pasting(func(*url.URL) string { return "x" })); err == nil {
		t.Error("it went on")
	}
}

func TestTokensAreRenewedOnceForAll(t *testing.T) {
	t.Parallel()
	r := newRig(t, "slowrefresh")
	r.mustSignIn(&browser{})
	r.srv.Expire()
	var wg sync.WaitGroup
	for range 8 { // as many processes
		wg.Go(func() {
			if status, err := r.call(testKeeper(r.k.dir).For(r.server)); err != nil || status == http.StatusUnauthorized {
				t.Errorf("%d %v", status, err)
			}
		})
	}
	wg.Wait()
	if n := r.srv.Seen("refresh_token"); n != 1 {
		t.Errorf("renewed %d times", n)
	}
}

// A token is renewed a minute before its end, and one that lives shorter in the last quarter of its life: not
// with every request.
func TestTokenIsRenewedBeforeItsEnd(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"ok", "norotate", "kind"} {
		for _, life := range []int{40, 60, 1000} {
			r := newRig(t, mode)
			r.srv.Lifetime(life)
			r.mustSignIn(&browser{})
			if mode == "kind" {
				life = 3600 // as text
			}
			ahead := min(time.Minute, time.Duration(life)*time.Second/4)
			for _, c := range []struct {
				left    time.Duration // of the first token's life
				renewed int
			}{{time.Duration(life) * time.Second, 0}, {ahead + 8*time.Second, 0}, {ahead - 2*time.Second, 1}} {
				r.k.now = func() time.Time { return time.Now().Add(time.Duration(life)*time.Second - c.left) }
				for range 3 {
					if !r.open() {
						t.Errorf("%s: not let in", mode)
					}
					if c.renewed > 0 {
						r.k.now = time.Now
					}
				}
				if n := r.srv.Seen("refresh_token"); n != c.renewed {
					t.Errorf("%s, %d s: renewed %d times with %v left", mode, life, n, c.left)
				}
			}
		}
	}
}

func TestClockThatIsOffByADay(t *testing.T) {
	t.Parallel()
	for _, off := range []time.Duration{24 * time.Hour, -24 * time.Hour} {
		r := newRig(t, "ok")
		r.mustSignIn(&browser{})
		r.k.now = func() time.Time { return time.Now().Add(off) }
		if !r.open() {
			t.Errorf("%v: not let in", off)
		}
		r.srv.Expire()
		if !r.open() {
			t.Errorf("%v: not renewed", off)
		}
	}
}

func TestRefusedRenewalAsksAgainOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t, "ok")
	r.mustSignIn(&browser{})
	r.srv.Revoke()
	for range 3 {
		var needs *NeedsSignIn
		if _, err := r.call(r.k.For(r.server)); !errors.As(err, &needs) {
			t.Errorf("%v", err)
		}
	}
	if n := r.srv.Seen("refresh_token"); n != 1 {
		t.Errorf("asked %d times with a refused token", n)
	}
	r.mustSignIn(&browser{})
	if !r.open() {
		t.Error("not let in after a new sign-in")
	}
}

func TestForgottenRegistrationIsMadeAnewOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t, "ok")
	r.mustSignIn(&browser{})
	r.srv.ForgetClients()
	r.srv.Revoke()
	b := &browser{}
	r.mustSignIn(b)
	if len(b.visits) != 2 || r.srv.Seen("/register") != 2 || !r.open() {
		t.Errorf("%d visits, %d registrations", len(b.visits), r.srv.Seen("/register"))
	}
}

func TestMoreRightsAreAskedForOnce(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"stepup", "endless"} {
		r := newRig(t, mode)
		r.mustSignIn(&browser{})
		_, err := r.call(r.k.For(r.server))
		var needs *NeedsSignIn
		if !errors.As(err, &needs) || !needs.StepUp || strings.Join(needs.Scopes, " ") != "read offline_access write" {
			t.Fatalf("%s: %v", mode, err)
		}
		if err := r.k.SignIn(t.Context(), r.server, needs, &browser{}); err != nil {
			t.Fatal(err)
		}
		if r.open() != (mode == "stepup") {
			t.Errorf("%s: open: %v", mode, r.open())
		}
	}
}

func TestClientCredentialsNeedNobody(t *testing.T) {
	t.Parallel()
	r := newRig(t, "ok")
	r.server.Settings = Settings{Grant: GrantClient, ClientID: "robot", ClientSecret: "s3cret"}
	for range 2 {
		if !r.open() {
			t.Error("not let in")
		}
	}
	if n := r.srv.Seen("client_credentials"); n != 1 {
		t.Errorf("asked %d times", n)
	}
	r.srv.Expire()
	if !r.open() {
		t.Error("not let in after the end of the token")
	}
	kept, err := os.ReadFile(filepath.Join(r.k.dir, tokenFile))
	if err != nil || strings.Contains(string(kept), "s3cret") {
		t.Errorf("the secret was written: %v", err)
	}
	r.server.Settings.ClientSecret = "wrong"
	r.srv.Expire()
	if _, err := r.call(r.k.For(r.server)); err == nil || !strings.Contains(err.Error(), "invalid_client") {
		t.Errorf("%v", err)
	}
}

func TestKeyringKeepsSignIns(t *testing.T) {
	keyring.MockInit()
	r := newRig(t, "ok")
	r.k.store = keyringStore{fileStore{filepath.Join(r.k.dir, tokenFile)}, newRing(systemSecrets{})}
	r.mustSignIn(&browser{})
	if !r.open() {
		t.Error("not let in")
	}
	if _, err := os.Stat(filepath.Join(r.k.dir, tokenFile)); err == nil {
		t.Error("it is in the file")
	}
	if had, err := r.k.Forget(t.Context(), r.server); !had || err != nil || r.open() {
		t.Errorf("%v %v", had, err)
	}
	keyring.MockInitWithError(keyring.ErrSetDataTooBig)
	if err := (keyringStore{fileStore{filepath.Join(r.k.dir, tokenFile)}, newRing(systemSecrets{})}).put("k", record{Server: "x", Access: "long"}); err != nil {
		t.Error(err)
	}
	if rec, err := (fileStore{filepath.Join(r.k.dir, tokenFile)}).get("k"); err != nil || rec.Access != "long" {
		t.Errorf("%+v %v", rec, err)
	}
}

// The rule for private addresses also applies to discovery.
func TestDiscoveryOfAPublicServerReachesNothingPrivate(t *testing.T) {
	t.Parallel()
	srv := mcptest.NewOAuth("ok")
	t.Cleanup(srv.Close)
	c := throughProxy("https://mcp.example.com/mcp")
	var into map[string]any
	if err := getJSON(t.Context(), c, srv.Issuer.URL+"/.well-known/oauth-authorization-server", &into); err == nil || !strings.Contains(err.Error(), "private address") {
		t.Errorf("%v", err)
	}
	if err := getJSON(t.Context(), throughProxy(srv.Endpoint()), srv.Issuer.URL+"/.well-known/oauth-authorization-server", &into); err != nil {
		t.Error(err)
	}
}

// A proxy at a private address, as companies have them, is used for public servers. It doesn't open the way to private
// ones.
func TestDiscoveryThroughAProxy(t *testing.T) {
	t.Parallel()
	asked := make(chan string, 8)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		asked <- req.URL.String()
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"found":true}`)) // the client may be gone
	}))
	t.Cleanup(func() { proxy.CloseClientConnections(); proxy.Close() })
	address, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	c := httpClient("https://mcp.example.com/mcp", http.ProxyURL(address))
	var into struct{ Found bool }
	if err := getJSON(t.Context(), c, "http://8.8.8.8/meta", &into); err != nil || !into.Found || <-asked != "http://8.8.8.8/meta" {
		t.Errorf("%v %v", into, err)
	}
	for _, private := range []string{"http://127.0.0.1:1/meta", "http://localhost:1/meta", "http://[::1]:1/meta", "http://169.254.169.254/meta"} {
		if err := getJSON(t.Context(), c, private, &into); err == nil || !strings.Contains(err.Error(), "private address") || passes(err) {
			t.Errorf("%s: %v", private, err)
		}
	}
	if len(asked) > 0 {
		t.Errorf("the proxy was asked for %s", <-asked)
	}
}

// What a server says is shown without its control characters, and scopes that are none are not asked for.
func TestServersWordsAreShownWithoutControlCharacters(t *testing.T) {
	t.Parallel()
	h := http.Header{"Www-Authenticate": {"Bearer scope=\"read \x1b[2Jx evil\u202ename write\""}}
	if got := readChallenge(h).scopes; strings.Join(got, " ") != "read write" {
		t.Errorf("%q", got)
	}
	e := &refusedError{Code: "invalid_grant\x1b]0;title\a", Description: "a\x1b[31mb"}
	if got := e.Error(); strings.ContainsAny(got, "\x1b\a") {
		t.Errorf("%q", got)
	}
}
