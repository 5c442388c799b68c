package dial_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"jcode/agent/model"
	"jcode/agent/model/chat"
	"jcode/agent/model/dial"
	"jcode/agent/model/provider"
	"jcode/internal/testkit/modeltest"
)

// moving is a server that redirects each path to one below /there, of its own or another server.
type moving struct {
	*httptest.Server
	code  int
	other string // "" for itself
	there http.Handler
}

func newMoving(t *testing.T, code int, there http.Handler) *moving {
	m := &moving{code: code, there: there}
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/there/") {
			m.there.ServeHTTP(w, r)
			return
		}
		http.Redirect(w, r, m.other+"/there"+r.URL.Path, m.code)
	}))
	t.Cleanup(m.Close)
	return m
}

func redirected(t *testing.T, m *moving, p provider.Protocol) (model.Response, dial.Client, error) {
	t.Helper()
	client, err := dial.Open(provider.Config{
		Name: "test", BaseURL: m.URL + "/v1", Key: "sk-very-secret-key", Protocol: p, Headers: map[string]string{"X-Team": "team-secret-value"},
		Limits: provider.Limits{Idle: time.Minute, Attempts: 2, Backoff: time.Millisecond, MaxBackoff: time.Millisecond},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	resp, err := client.Stream(ctx, model.Request{
		Model: "test-model", System: "You help.", Messages: []model.Message{{Role: model.RoleUser, Text: "the whole question"}},
	}, func(model.Event) {})
	return resp, client, err
}

func TestARedirectOnTheSameServerGetsTheWholeRequest(t *testing.T) {
	t.Parallel()
	for _, p := range []provider.Protocol{provider.Chat, provider.Messages, provider.Responses} {
		for _, code := range []int{http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
			strict := modeltest.NewHandler(modeltest.Text("Here."))
			m := newMoving(t, code, strict)
			resp, client, err := redirected(t, m, p)
			if err != nil || resp.Text != "Here." {
				t.Errorf("%s, %d: %q, %v", p, code, resp.Text, err)
				continue
			}
			req := strict.Requests()[0]
			key := req.Header.Get("Authorization") + req.Header.Get("X-Api-Key")
			if !strings.HasPrefix(req.Path, "/there/") || !strings.Contains(string(req.Raw), "the whole question") || !strings.Contains(key, "sk-very-secret-key") || req.Header.Get("X-Team") == "" {
				t.Errorf("%s, %d: %s %v %s", p, code, req.Path, req.Header, req.Raw)
			}
			if breaches := strict.Breaches(); len(breaches) != 0 {
				t.Errorf("%s, %d: %v", p, code, breaches)
			}
			strict.Models("one")
			if list, err := client.ListModels(t.Context()); err != nil || len(list) != 1 {
				t.Errorf("%s, %d: models %v, %v", p, code, list, err)
			}
		}
	}
}

// A POST that would become a GET, and whatever leads to another server, is a refusal that names
// the address. The other server gets no request: neither the conversation nor the key.
func TestOtherRedirectsAreRefusalsThatNameTheAddress(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		t.Errorf("the other server got %s %s %v", r.Method, r.URL, r.Header)
	}))
	t.Cleanup(other.Close)
	for _, p := range []provider.Protocol{provider.Chat, provider.Messages, provider.Responses} {
		for _, code := range []int{301, 302, 303, 307, 308} {
			for _, to := range []string{other.URL, ""} {
				if to == "" && code >= http.StatusTemporaryRedirect {
					continue // it is followed
				}
				m := newMoving(t, code, http.NotFoundHandler())
				m.other = to
				_, client, err := redirected(t, m, p)
				var bad *model.Error
				if !errors.As(err, &bad) || bad.Class != model.ClassRequest || !strings.Contains(bad.Text, "has moved to "+to+"/there/v1/") {
					t.Errorf("%s, %d to %q: %v", p, code, to, err)
				}
				if to == "" {
					continue
				}
				if _, err := client.ListModels(t.Context()); err == nil || !strings.Contains(err.Error(), "has moved to "+to) {
					t.Errorf("%s, %d: models: %v", p, code, err)
				}
			}
		}
	}
	m := newMoving(t, http.StatusTemporaryRedirect, http.NotFoundHandler())
	m.other = other.URL
	embedder, err := chat.NewEmbedder(provider.Config{Name: "test", BaseURL: m.URL + "/v1", Key: "sk-very-secret-key"}, "small")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(embedder.Close)
	if _, err := embedder.Embed(t.Context(), []string{"a text"}); err == nil || !strings.Contains(err.Error(), "has moved to "+other.URL) {
		t.Errorf("embeddings: %v", err)
	}
}
