package mcp

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"jcode/internal/testkit/eventually"
	"jcode/internal/testkit/mcptest"
	"jcode/mcp/auth"
	"jcode/mcp/config"
)

// follower is a person whose browser follows every redirect at once.
type follower struct {
	mu     sync.Mutex
	visits []auth.Visit
}

func (f *follower) Visit(ctx context.Context, v auth.Visit) (string, error) {
	f.mu.Lock()
	f.visits = append(f.visits, v)
	f.mu.Unlock()
	req, err := http.NewRequestWithContext(context.WithoutCancel(ctx), http.MethodGet, v.URL, nil)
	if err != nil {
		return "", err
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		return "", err
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
	<-ctx.Done()
	return "", ctx.Err()
}

func (f *follower) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.visits)
}

func oauthServer(t *testing.T, mode string) *mcptest.OAuthServer {
	s := mcptest.NewOAuth(mode)
	t.Cleanup(s.Close)
	return s
}

func TestServerIsSignedInToOnceAndThenJustWorks(t *testing.T) {
	t.Parallel()
	srv, person := oauthServer(t, "ok"), &follower{}
	r := newManagerRig(t, map[string]any{"s": map[string]any{"url": srv.Endpoint()}}, func(o *Options) { o.Person = person })
	r.m.Start()
	r.waitState("s", StateConnected)
	if res := r.call("mcp:s:echo", `{"text":"hi"}`); res.Failed || res.Text != "echo: hi" {
		t.Errorf("%+v", res)
	}
	srv.Expire() // while it runs
	if res := r.call("mcp:s:echo", `{"text":"again"}`); res.Failed {
		t.Errorf("%+v", res)
	}
	// Another session, without a person.
	opt := r.opt
	opt.Person = nil
	other := New(opt)
	defer other.Close()
	other.Start()
	eventually.True(t, "connected without a person", func() bool { d, err := other.Server("s"); return err == nil && d.State == StateConnected })
	if person.count() != 1 {
		t.Errorf("the person was sent %d times", person.count())
	}
	for _, d := range append(r.m.Snapshot(), other.Snapshot()...) {
		if all := fmt.Sprintf("%+v", d); strings.Contains(all, "access-") || strings.Contains(all, "refresh-") {
			t.Errorf("a token shows: %s", all)
		}
	}
	log, err := os.ReadFile(filepath.Join(r.opt.LogDir, "s.log"))
	if err != nil || strings.Contains(string(log), "access-") {
		t.Errorf("%v %s", err, log)
	}
}

func TestServerThatNeedsASignInSaysSo(t *testing.T) {
	t.Parallel()
	srv := oauthServer(t, "ok")
	var mu sync.Mutex
	var told []string
	r := newManagerRig(t, map[string]any{"s": map[string]any{"url": srv.Endpoint()}}, func(o *Options) {
		o.Notify = func(_, text string) { mu.Lock(); told = append(told, text); mu.Unlock() }
	})
	r.m.Start()
	d := r.waitState("s", StateNeedsSignIn)
	host := strings.TrimPrefix(srv.Issuer.URL, "http://")
	want := "needs sign-in at " + host + ": the user has to run /mcp login s, or jcode mcp login s"
	if d.Error != want {
		t.Errorf("%q", d.Error)
	}
	for tool, args := range map[string]string{"mcp_list": `{}`, "mcp:s:echo": `{}`, "mcp_connect": `{"name":"s"}`} {
		if res := r.call(tool, args); !strings.Contains(res.Text, "needs sign-in") {
			t.Errorf("%s: %s", tool, res.Text)
		}
	}
	mu.Lock()
	if len(told) != 1 || !strings.Contains(told[0], want) {
		t.Errorf("%q", told)
	}
	mu.Unlock()
	person := &follower{}
	if err := r.m.SignIns().In(t.Context(), "s", person); err != nil {
		t.Fatal(err)
	}
	r.waitState("s", StateConnected)
	if had, err := r.m.SignIns().Out(t.Context(), "s"); !had || err != nil {
		t.Errorf("%v %v", had, err)
	}
	if d, err := r.m.Server("s"); err != nil || d.State != StateDisconnected || d.Reason != "disconnected by a sign-out" {
		t.Errorf("%+v %v", d.Status, err)
	}
}

func TestCallThatNeedsMoreRightsAsksOnce(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"stepup", "endless"} {
		srv, person := oauthServer(t, mode), &follower{}
		r := newManagerRig(t, map[string]any{"s": map[string]any{"url": srv.Endpoint()}}, func(o *Options) { o.Person = person })
		r.m.Start()
		r.waitState("s", StateConnected)
		if res := r.call("mcp:s:echo", `{"text":"hi"}`); !res.Failed || !strings.Contains(res.Text, "needs a sign-in with more rights") {
			t.Errorf("%s: %+v", mode, res)
		}
		eventually.True(t, "the sign-in with more rights", func() bool { return srv.Seen("authorization_code") == 2 })
		r.waitState("s", StateConnected)
		eventually.True(t, "the next call", func() bool {
			res := r.call("mcp:s:echo", `{"text":"hi"}`)
			return res.Failed == (mode == "endless") && (res.Text == "echo: hi" || strings.Contains(res.Text, "more rights"))
		})
		if person.count() != 2 {
			t.Errorf("%s: the person was sent %d times", mode, person.count())
		}
	}
}

// A refusal of the account that is signed in does not speak of a header that nobody has set.
func TestRefusalOfTheAccountIsNamed(t *testing.T) {
	t.Parallel()
	srv := oauthServer(t, "forbids")
	r := newManagerRig(t, map[string]any{"s": map[string]any{"url": srv.Endpoint()}}, func(o *Options) { o.Person = &follower{} })
	r.m.Start()
	r.waitState("s", StateConnected)
	res := r.call("mcp:s:echo", `{"text":"hi"}`)
	if !res.Failed || !strings.Contains(res.Text, "not for you (the account that is signed in may not do this") {
		t.Errorf("%+v", res)
	}
}

// An authorization server that can't answer at the moment fails the call that needed it. The server stays, and nobody is
// sent to sign in.
func TestAuthorizationServerThatFailsIsNoSignIn(t *testing.T) {
	t.Parallel()
	srv, person := oauthServer(t, "ok"), &follower{}
	r := newManagerRig(t, map[string]any{"s": map[string]any{"url": srv.Endpoint()}}, func(o *Options) { o.Person = person })
	r.m.Start()
	r.waitState("s", StateConnected)
	srv.Expire()
	srv.FailTokens(1000)
	if res := r.call("mcp:s:echo", `{"text":"hi"}`); !res.Failed || !strings.Contains(res.Text, "status 503") || strings.Contains(res.Text, "needs sign-in") {
		t.Errorf("%+v", res)
	}
	srv.FailTokens(0)
	eventually.True(t, "the next call", func() bool { return r.call("mcp:s:echo", `{"text":"hi"}`).Text == "echo: hi" })
	if person.count() != 1 {
		t.Errorf("the person was sent %d times", person.count())
	}
}

func TestConfiguredCredentialsBeginNoSignIn(t *testing.T) {
	t.Parallel()
	srv, person := oauthServer(t, "ok"), &follower{}
	r := newManagerRig(t, map[string]any{"s": map[string]any{"url": srv.Endpoint(), "headers": map[string]string{"Authorization": "Bearer old"}}}, func(o *Options) { o.Person = person })
	r.m.Start()
	d := r.waitState("s", StateFailed)
	if !strings.Contains(d.Error, "the Authorization header that is set was refused") || person.count() != 0 {
		t.Errorf("%s, %d visits", d.Error, person.count())
	}
}

func TestClientCredentialsOfAnEntry(t *testing.T) {
	t.Parallel()
	srv := oauthServer(t, "ok")
	entry := map[string]any{"url": srv.Endpoint(), "oauth": map[string]any{"grant": "client_credentials", "client_id": "robot", "client_secret_env": "ROBOT_SECRET"}}
	r := newManagerRig(t, map[string]any{"s": entry}, func(o *Options) { o.Env = []string{"ROBOT_SECRET=s3cret"} })
	r.m.Start()
	r.waitState("s", StateConnected)
	if res := r.call("mcp:s:echo", `{"text":"hi"}`); res.Failed {
		t.Errorf("%+v", res)
	}
}

// TestOnlyAServerThatAPersonSignsInToAsksForOne: one with a client's own credentials never does, even without
// a token.
func TestOnlyAServerThatAPersonSignsInToAsksForOne(t *testing.T) {
	t.Parallel()
	srv := oauthServer(t, "ok")
	r := newManagerRig(t, map[string]any{
		"person": map[string]any{"url": srv.Endpoint()},
		"robot":  map[string]any{"disabled": true, "url": srv.Endpoint(), "oauth": map[string]any{"grant": "client_credentials", "client_id": "robot", "client_secret_env": "ROBOT_SECRET"}},
	}, func(o *Options) { o.Env = []string{"ROBOT_SECRET=s3cret"} })
	r.m.Start()
	for name, want := range map[string]bool{"person": true, "robot": false} {
		if asked, err := r.m.SignIns().Asked(t.Context(), name); err != nil || asked != want {
			t.Errorf("%s: %v %v", name, asked, err)
		}
	}
}

// A helper's headers are sent, and the helper runs again after a refusal.
func TestHeadersHelper(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/bin/sh"); err != nil {
		t.Skip("there is no sh")
	}
	srv := oauthServer(t, "ok")
	srv.Accept("first")
	token := filepath.Join(t.TempDir(), "token")
	writeFile(t, token, "first")
	entry := map[string]any{"url": srv.Endpoint(), "headersHelper": []string{"sh", "-c", `echo "Authorization: Bearer $(cat ` + token + `)"; echo X-From: $JCODE_MCP_URL`}}
	r := newManagerRig(t, map[string]any{
		"s": entry, "json": map[string]any{"url": srv.Endpoint(), "headersHelper": []string{"echo", `{"Authorization":"Bearer first"}`}},
		"bad": map[string]any{"url": srv.Endpoint(), "headersHelper": "false"},
	}, nil)
	r.m.Start()
	r.waitState("s", StateConnected)
	r.waitState("json", StateConnected)
	if d := r.waitState("bad", StateFailed); !strings.Contains(d.Error, "headersHelper false failed (exit status 1)") {
		t.Error(d.Error)
	}
	srv.Expire()
	srv.Accept("second")
	writeFile(t, token, "second")
	if res := r.call("mcp:s:echo", `{"text":"hi"}`); res.Failed {
		t.Errorf("%+v", res)
	}
	for _, req := range srv.Requests() {
		if req.Header.Get("X-From") != "" && req.Header.Get("X-From") != srv.Endpoint() {
			t.Errorf("%q", req.Header)
		}
	}
}

// The sign-in settings of a project's file are part of what a person approves.
func TestSignInSettingsAreApproved(t *testing.T) {
	t.Parallel()
	base, err := config.ParseJSON("s", []byte(`{"url":"https://example.com/mcp"}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, more := range []string{`"oauth":{"scopes":["admin"]}`, `"oauth":{"client_id":"x"}`, `"headersHelper":["cat","/etc/passwd"]`} {
		e, err := config.ParseJSON("s", []byte(`{"url":"https://example.com/mcp",`+more+`}`))
		if err != nil || e.Target.Hash() == base.Target.Hash() {
			t.Errorf("%s: %v", more, err)
		}
	}
	for entry, want := range map[string]string{
		`{"url":"https://e.com/mcp","oauth":{"client_secret":"x"}}`:              "client_secret_env",
		`{"url":"https://e.com/mcp","oauth":{"grant":"password"}}`:               "unknown grant",
		`{"url":"https://e.com/mcp","oauth":{"grant":"jwt_bearer"}}`:             "needs assertion_env or assertion_file",
		`{"url":"https://e.com/mcp","oauth":{"assertion":"x"}}`:                  "assertion_env",
		`{"url":"https://e.com/mcp","oauth":{"grant":"client_credentials"}}`:     "needs client_id",
		`{"url":"https://e.com/mcp","oauth":{"callback_port":70000}}`:            "not a port",
		`{"url":"https://e.com/mcp","oauth":{"scopes":3}}`:                       "oauth.scopes: can't be a number",
		`{"url":"https://e.com/mcp","headersHelper":"sh -c 'x'"}`:                "headersHelper",
		`{"url":"https://e.com/mcp","oauth":{"client_metadata_url":"http://x"}}`: "client_metadata_url",
	} {
		if _, err := config.ParseJSON("s", []byte(entry)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", entry, err)
		}
	}
}

// A redirect to another origin repeats the request without the token.
func TestRedirectsCarryNoToken(t *testing.T) {
	t.Parallel()
	srv := oauthServer(t, "elsewhere")
	other := httpServer(t, "stateless")
	srv.Elsewhere = other.Endpoint()
	r := newManagerRig(t, map[string]any{"s": map[string]any{"url": srv.Endpoint()}}, func(o *Options) { o.Person = &follower{} })
	r.m.Start()
	r.waitState("s", StateConnected)
	if len(other.Requests()) == 0 {
		t.Fatal("the redirect was not followed")
	}
	for _, req := range other.Requests() {
		if req.Header.Get("Authorization") != "" {
			t.Errorf("%s %s carries a token", req.Method, req.RPC)
		}
	}
}
