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
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"github.com/zalando/go-keyring"
)

// stranger is a browser before which something else on this machine calls the callback.
type stranger struct {
	browser
	status []int
}

func (s *stranger) Visit(ctx context.Context, v Visit) (string, error) {
	page, err := url.Parse(v.URL)
	if err != nil {
		return "", err
	}
	for _, query := range []string{"?code=stolen", "?code=stolen&state=other", "?error=access_denied", ""} {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, page.Query().Get("redirect_uri")+query, nil)
		if err != nil {
			return "", err
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return "", err
		}
		s.status = append(s.status, resp.StatusCode)
		_ = resp.Body.Close()
	}
	http.DefaultClient.CloseIdleConnections()
	return s.browser.Visit(ctx, v)
}

// Whatever calls the callback without the state of the sign-in does not end it.
func TestAStrangersAnswerDoesNotEndTheSignIn(t *testing.T) {
	t.Parallel()
	r := newRig(t, "ok")
	s := &stranger{}
	if err := r.signIn(s); err != nil || !r.open() {
		t.Errorf("signed in: %v, %v", r.open(), err)
	}
	for _, code := range s.status {
		if code != http.StatusBadRequest {
			t.Errorf("a stranger's answer got %v", s.status)
		}
	}
}

// The person sees where the code goes and who vouches for it, if that is not the host of the page.
func TestHostsOfASignInAreShownWhereTheyDiffer(t *testing.T) {
	t.Parallel()
	meta := &authServer{AuthServerMeta: oauthex.AuthServerMeta{TokenEndpoint: "https://login.example/token", Issuer: "https://login.example"}}
	e := &NeedsSignIn{Host: "login.example", found: found{server: meta}}
	if got := e.hosts(); got != "login.example" {
		t.Error(got)
	}
	meta.TokenEndpoint, meta.Issuer = "https://tokens.example/x", "https://id.example"
	if got := e.hosts(); got != "login.example (the answer goes to tokens.example, the issuer is id.example)" {
		t.Error(got)
	}
}

func TestFileOfTokensIsClosedAgain(t *testing.T) {
	t.Parallel()
	s := fileStore{filepath.Join(t.TempDir(), tokenFile)}
	if err := s.put("k", record{Server: "x", Access: "a"}); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(s.path); err != nil || info.Mode().Perm() != 0o600 {
		t.Skip("files have no such rights here")
	}
	if err := os.Chmod(s.path, 0o644); err != nil {
		t.Fatal(err)
	}
	if r, err := s.get("k"); err != nil || r.Access != "a" {
		t.Errorf("%v %v", r, err)
	}
	if info, err := os.Stat(s.path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	if r, _ := s.get("k"); time.Since(r.Saved) > time.Minute || !strings.HasPrefix(r.Server, "x") {
		t.Errorf("%v", r)
	}
}

// A sign-in that went to the file while the keyring did not answer is newer than what the keyring has.
func TestTheNewerSignInCounts(t *testing.T) {
	keyring.MockInit()
	s := keyringStore{fileStore{filepath.Join(t.TempDir(), tokenFile)}, newRing(systemSecrets{})}
	if err := s.put("k", record{Server: "x", Access: "old"}); err != nil {
		t.Fatal(err)
	}
	if err := s.file.put("k", record{Server: "x", Access: "new"}); err != nil {
		t.Fatal(err)
	}
	if r, err := s.get("k"); err != nil || r.Access != "new" {
		t.Errorf("%+v %v", r, err)
	}
	if err := s.put("k", record{Server: "x", Access: "newest"}); err != nil {
		t.Fatal(err)
	}
	if r, err := s.get("k"); err != nil || r.Access != "newest" {
		t.Errorf("%+v %v", r, err)
	}
	keyring.MockInitWithError(os.ErrPermission)
	if _, err := s.get("k"); err == nil || !strings.Contains(err.Error(), "the keyring is locked or does not answer") {
		t.Error(err)
	}
}

// A sign-out makes the tokens invalid at the authorization server, and is not held up by one that does not answer.
func TestSignOutMakesTheTokensInvalid(t *testing.T) {
	t.Parallel()
	r := newRig(t, "ok")
	r.mustSignIn(&browser{})
	rec, err := r.k.open().get(r.server.key())
	if err != nil {
		t.Fatal(err)
	}
	if had, err := r.k.Forget(t.Context(), r.server); !had || err != nil || r.srv.Seen("/revoke") != 1 {
		t.Errorf("%v %v, revoked %d times", had, err, r.srv.Seen("/revoke"))
	}
	if err := r.k.open().put(r.server.key(), rec); err != nil { // a copy of the file
		t.Fatal(err)
	}
	var needs *NeedsSignIn
	if _, err := r.call(r.k.For(r.server)); !errors.As(err, &needs) {
		t.Errorf("the tokens of a sign-in that ended are accepted: %v", err)
	}
	r.srv.Issuer.Close()
	if had, err := r.k.Forget(t.Context(), r.server); !had || err != nil {
		t.Errorf("%v %v", had, err)
	}
}

// A server that asks for no sign-in and answers other addresses with a fault is not asked about one.
func TestServerWhoseOtherAddressesFailNeedsNoSignIn(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.URL.Path != "/mcp" {
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	t.Cleanup(func() { srv.CloseClientConnections(); srv.Close() })
	if need, err := testKeeper(t.TempDir()).Look(t.Context(), Server{Name: "s", URL: srv.URL + "/mcp"}); need != nil || err != nil {
		t.Errorf("%v %v", need, err)
	}
}
