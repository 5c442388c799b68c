//go:build !windows

package dial_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"jcode/agent/model/dial"
	"jcode/agent/model/provider"
	"jcode/internal/testkit/cloudtest"
	"jcode/internal/testkit/modeltest"
)

// newVertex starts a server that takes one token at a time, and returns settings whose command writes the newest one.
func newVertex(t *testing.T, id string, replies ...modeltest.Reply) (*cloudtest.Vertex, *atomic.Value, provider.Settings) {
	t.Helper()
	good := &atomic.Value{}
	v := &cloudtest.Vertex{
		Models: modeltest.NewHandler(replies...), Project: "blue", Region: "europe-west1", IDs: []string{"claude-sonnet-4-5@20250929", "google/gemini-3.1-pro", "meta/llama-4-maas"},
		Token: func(token string) int {
			if token == good.Load() {
				return 0
			}
			return http.StatusUnauthorized
		},
	}
	srv := httptest.NewServer(v)
	t.Cleanup(func() {
		srv.Close()
		for _, breach := range v.Models.Breaches() {
			t.Error(breach)
		}
	})
	file := filepath.Join(t.TempDir(), "token")
	write := func(token string) {
		good.Store(token)
		if err := os.WriteFile(file, []byte(token), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("ya29.first-token")
	return v, good, provider.Settings{
		Model: "vertex/" + id, Env: environment("GOOGLE_CLOUD_PROJECT=blue", "GOOGLE_CLOUD_LOCATION=europe-west1"),
		Providers: map[string]provider.Config{"vertex": {
			BaseURL: srv.URL + "/v1/projects/${project}/locations/${region}", KeyCommand: []string{"/bin/cat", file}, Headers: map[string]string{"X-File": file},
		}},
	}
}

// A token of Google lasts an hour; the next one is written without a word.
func TestVertexServesClaudeAndGeminiWhileTokensEnd(t *testing.T) {
	const below = "/v1/projects/blue/locations/europe-west1"
	for id, want := range map[string]string{
		"claude-sonnet-4-5@20250929": below + "/publishers/anthropic/models/claude-sonnet-4-5@20250929:streamRawPredict",
		"gemini-3.1-pro":             below + "/endpoints/openapi/chat/completions",
		"google/gemini-3.1-pro":      below + "/endpoints/openapi/chat/completions",
		"meta/llama-4-maas":          below + "/endpoints/openapi/chat/completions",
	} {
		t.Run(strings.ReplaceAll(id, "/", " "), func(t *testing.T) {
			v, good, s := newVertex(t, id, modeltest.Text("one").WithReasoning("think"), modeltest.Text("two"))
			ask := conversation(t, s)
			if resp, _, err := ask("x"); err != nil || resp.Text != "one" || resp.Reasoning != "think" {
				t.Fatalf("%+v, %v", resp, err)
			}
			good.Store("ya29.second-token")
			if err := os.WriteFile(s.Providers["vertex"].Headers["X-File"], []byte("ya29.second-token\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			if resp, events, err := ask("x"); err != nil || resp.Text != "two" || len(events) != 0 {
				t.Fatalf("%+v, %v, %v", resp, events, err)
			}
			if got := v.Log.Passed(); len(got) != 2 || got[0] != want || len(v.Log.Refusals()) != 1 {
				t.Errorf("asked %q, refused %v", got, v.Log.Refusals())
			}
		})
	}
}

func TestVertexHasAHostForEachPlace(t *testing.T) {
	for region, want := range map[string]string{
		"":             "https://aiplatform.googleapis.com/v1/projects/blue/locations/global",
		"eu":           "https://aiplatform.eu.rep.googleapis.com/v1/projects/blue/locations/eu",
		"europe-west1": "https://europe-west1-aiplatform.googleapis.com/v1/projects/blue/locations/europe-west1",
	} {
		target, err := provider.Resolve(provider.Settings{Model: "vertex/claude-x", Env: environment("GOOGLE_CLOUD_PROJECT=blue", "CLOUD_ML_REGION="+region)})
		if err != nil || target.Provider.BaseURL != want || target.Provider.Protocol != provider.Messages || target.Provider.KeyCommand[0] != "gcloud" {
			t.Errorf("%q: %+v, %v", region, target, err)
		}
	}
	if _, err := provider.Resolve(provider.Settings{Model: "vertex/claude-x"}); err == nil || !strings.Contains(err.Error(), "set GOOGLE_CLOUD_PROJECT or providers.vertex.project") {
		t.Errorf("%v", err)
	}
}

func TestTheDoctorTriesVertex(t *testing.T) {
	for _, id := range []string{"claude-sonnet-4-5@20250929", "gemini-3.1-pro"} {
		_, _, s := newVertex(t, id, modeltest.Text("ready"), modeltest.Calls(modeltest.Call{Name: "report", Args: `{"word":"ready"}`}))
		target, err := provider.Resolve(s)
		if err != nil {
			t.Fatal(err)
		}
		said := ""
		for _, c := range dial.Endpoint(t.Context(), target.Provider, target.Model) {
			if !c.OK || c.Advice != "" {
				t.Errorf("%+v", c)
			}
			said += c.Name + ": " + c.Detail + "\n"
		}
		if !strings.Contains(said, "key: written by cat (not shown)") || !strings.Contains(said, "calls tools") || strings.Contains(said, "ya29") {
			t.Error(said)
		}
	}
}
