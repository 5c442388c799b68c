package dial_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"jcode/agent/model"
	"jcode/agent/model/dial"
	"jcode/agent/model/provider"
	"jcode/internal/testkit/leaks"
	"jcode/internal/testkit/modeltest"
)

func TestMain(m *testing.M) { leaks.Main(m) }

func openAt(t *testing.T, url string) dial.Client {
	t.Helper()
	client, err := dial.Open(provider.Config{Name: "test", BaseURL: url})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

func TestPresetsAreComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range provider.Presets() {
		if p.Cloud != "" { // its address is filled in: see the tests of each cloud
			seen[p.Name] = true
			continue
		}
		if _, err := dial.Open(p); err != nil || seen[p.Name] || !p.Local && p.KeyEnv == "" {
			t.Errorf("%+v: %v", p, err)
		}
		seen[p.Name] = true
	}
	for _, name := range strings.Fields("openai openrouter anthropic gemini groq deepseek mistral xai together azure ollama lmstudio llamacpp vllm") {
		if !seen[name] {
			t.Errorf("preset %s is missing", name)
		}
	}
}

func TestModelListsOfEveryForm(t *testing.T) {
	cases := map[string]struct{ body, want string }{
		"openai":    {`{"object":"list","data":[{"id":"a","created":1.5},{"id":"b","created":"x"}]}`, "[{a 0} {b 0}]"},
		"windows":   {`{"data":[{"id":"a","context_length":1000},{"id":"b","max_model_len":2000},{"id":"c","meta":{"n_ctx_train":3000}},{"id":"d","context_window":4000,"x":[]}]}`, "[{a 1000} {b 2000} {c 3000} {d 4000}]"},
		"odd types": {`{"data":[{"id":"a","context_length":"many","meta":7},{"id":5},null,{"id":""}]}`, "[{a 0}]"},
		"bare list": {`[{"id":"a"}]`, "[{a 0}]"},
		"ollama":    {`{"models":[{"name":"a"}]}`, "[{a 0}]"},
		"empty":     {`{"data":[]}`, "[]"},
		"no list":   {`{"hello":1}`, "no list of models"},
		"web page":  {`<html><title>Hi</title>`, "a web page came instead of an answer: Hi"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, c.body) }))
			defer srv.Close()
			list, err := openAt(t, srv.URL+"/v1").ListModels(t.Context())
			if err != nil {
				if !strings.Contains(err.Error(), c.want) {
					t.Error(err)
				}
				return
			}
			if fmt.Sprint(list) != c.want {
				t.Errorf("%v, want %s", list, c.want)
			}
		})
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) }))
	defer srv.Close()
	var bad *model.Error
	if _, err := openAt(t, srv.URL).ListModels(t.Context()); !errors.As(err, &bad) || bad.Class != model.ClassAuth {
		t.Error(err)
	}
}

func TestLocalServersAreFound(t *testing.T) {
	srv := modeltest.New(t)
	srv.Models("a", "b")
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer silent.Close()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") }))
	defer web.Close()
	began := time.Now()
	found := dial.DetectLocal(context.Background(), []provider.Config{
		{Name: "silent", BaseURL: silent.URL, Local: true},
		{Name: "web", BaseURL: web.URL, Local: true},
		{Name: "up", BaseURL: srv.URL(), Local: true},
		{Name: "down", BaseURL: "http://127.0.0.1:1/v1", Local: true},
		{Name: "remote", BaseURL: srv.URL()},
		{Name: "bad", BaseURL: "x", Local: true},
	})
	if len(found) != 1 || found[0].Provider.Name != "up" || len(found[0].Models) != 2 {
		t.Errorf("%+v", found)
	}
	if time.Since(began) > 30*time.Second {
		t.Error("it took too long")
	}
}

func TestDoctorChecksAnEndpoint(t *testing.T) {
	t.Setenv("NODE_EXTRA_CA_CERTS", "")
	srv := modeltest.New(t, modeltest.Text("ready"), modeltest.Calls(modeltest.Call{Name: "report", Args: `{"word":"ready"}`}))
	srv.Models("text-embedding-3", "some-coder", "other")
	cfg := provider.Config{Name: "test", BaseURL: srv.URL(), Key: "sk-very-secret-key", KeyEnv: "TEST_KEY"}
	for _, c := range dial.Endpoint(t.Context(), cfg, "") {
		if !c.OK || c.Advice != "" || strings.Contains(c.Detail, "secret") {
			t.Errorf("%+v", c)
		}
	}
	if r := srv.Requests(); len(r) != 2 || r[0].Model != "some-coder" || len(r[1].Tools) != 1 {
		t.Errorf("%d requests", len(r))
	}
	t.Run("faults", func(t *testing.T) {
		srv := modeltest.New(t, modeltest.Error(401, "", "wrong key sk-very-secret-key"))
		cfg.BaseURL = srv.URL()
		checks := dial.Endpoint(t.Context(), cfg, "missing")
		last := checks[len(checks)-1]
		if last.Name != "stream" || last.OK || last.Advice == "" || strings.Contains(fmt.Sprint(checks), "secret") || checks[1].Advice == "" {
			t.Errorf("%+v", checks)
		}
		cfg.BaseURL = "ftp://x"
		if checks := dial.Endpoint(t.Context(), cfg, ""); len(checks) != 1 || checks[0].OK {
			t.Errorf("%+v", checks)
		}
	})
}

func TestAProbeSaysWhatAModelCan(t *testing.T) {
	for id, protocol := range speaking() {
		t.Run(string(protocol), func(t *testing.T) {
			report := func(word string) modeltest.Call {
				return modeltest.Call{Name: "report", Args: `{"word":"` + word + `"}`}
			}
			srv := modeltest.New(t, modeltest.Calls(report("ready"), report("red")).WithReasoning("a red square"))
			cfg := provider.Config{Name: "test", BaseURL: srv.URL(), Key: "sk-very-secret-key", Protocol: protocol}
			said := ""
			for _, c := range dial.Probe(t.Context(), cfg, id) {
				if !c.OK || strings.Contains(c.Detail, "secret") {
					t.Errorf("%+v", c)
				}
				said += c.Name + ": " + c.Detail + "\n"
			}
			for _, want := range []string{"protocol: " + string(protocol), "first token after", "parallel calls: several at once", "images: taken", "thinking: comes"} {
				if !strings.Contains(said, want) {
					t.Errorf("%q is not in\n%s", want, said)
				}
			}
			if n := len(srv.Requests()); n != 1 || len(srv.Requests()[0].Raw) > 4*dial.ProbeTokens {
				t.Errorf("%d requests", n)
			}
		})
	}
}
