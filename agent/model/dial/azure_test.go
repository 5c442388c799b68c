//go:build !windows

package dial_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"jcode/agent/model"
	"jcode/agent/model/dial"
	"jcode/agent/model/provider"
	"jcode/internal/testkit/cloudtest"
	"jcode/internal/testkit/modeltest"
)

// environment reads variables from a list of NAME=value.
func environment(list ...string) func(string) string {
	return func(name string) string {
		for _, kv := range list {
			if k, v, _ := strings.Cut(kv, "="); k == name {
				return v
			}
		}
		return ""
	}
}

// askCloud resolves a model of a cloud and asks it once.
func askCloud(t *testing.T, s provider.Settings) (model.Response, error) {
	t.Helper()
	target, err := provider.Resolve(s)
	if err != nil {
		return model.Response{}, err
	}
	client, err := dial.Open(target.Provider)
	if err != nil {
		return model.Response{}, err
	}
	t.Cleanup(client.Close)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	return client.Stream(ctx, model.Request{Model: target.Model, System: "You help.", Messages: []model.Message{{Role: model.RoleUser, Text: "hello"}}}, func(model.Event) {})
}

func newAzure(t *testing.T, replies ...modeltest.Reply) (*cloudtest.Azure, string) {
	t.Helper()
	azure := &cloudtest.Azure{Models: modeltest.NewHandler(replies...), Key: "azure-resource-key-0123456789", Deployments: []string{"my gpt"}, Token: func(token string) int {
		if token == "entra-token" {
			return 0
		}
		return http.StatusUnauthorized
	}}
	srv := httptest.NewServer(azure)
	t.Cleanup(func() {
		srv.Close()
		for _, b := range azure.Models.Breaches() {
			t.Error(b)
		}
	})
	return azure, srv.URL
}

func TestAzureIsAskedInBothFormsOfItsAddress(t *testing.T) {
	const deployments = "/openai/deployments/{model}?api-version=2024-10-21"
	for name, c := range map[string]struct {
		own  provider.Config
		env  string
		want string // the address that is asked
	}{
		"v1":                   {provider.Config{}, "", "/openai/v1/responses"},
		"v1, a longer env":     {provider.Config{}, "/openai/v1/", "/openai/v1/responses"},
		"v1, a query":          {provider.Config{BaseURL: "${AZURE_OPENAI_ENDPOINT}/openai/v1?api-version=preview"}, "", "/openai/v1/responses?api-version=preview"},
		"v1, chat":             {provider.Config{Protocol: provider.Chat}, "", "/openai/v1/chat/completions"},
		"deployments":          {provider.Config{BaseURL: "${AZURE_OPENAI_ENDPOINT}" + deployments}, "", "/openai/deployments/my%20gpt/chat/completions?api-version=2024-10-21"},
		"a token by command":   {provider.Config{KeyCommand: []string{"/bin/echo", "entra-token"}}, "", "/openai/v1/responses"},
		"deployments, token":   {provider.Config{BaseURL: "${AZURE_OPENAI_ENDPOINT}" + deployments, KeyCommand: []string{"/bin/echo", "entra-token"}}, "", "/openai/deployments/my%20gpt/chat/completions?api-version=2024-10-21"},
		"an account of a name": {provider.Config{Name: "second", Preset: "azure"}, "", "/openai/v1/responses"},
	} {
		t.Run(name, func(t *testing.T) {
			azure, url := newAzure(t, modeltest.Text("Here."))
			of := "azure"
			if c.own.Name != "" {
				of = c.own.Name
			}
			key := "AZURE_OPENAI_API_KEY=azure-resource-key-0123456789"
			resp, err := askCloud(t, provider.Settings{
				Model: of + "/my gpt", Env: environment("AZURE_OPENAI_ENDPOINT="+url+"/"+strings.TrimPrefix(c.env, "/"), key),
				Providers: map[string]provider.Config{of: c.own},
			})
			if err != nil || resp.Text != "Here." {
				t.Fatalf("%q, %v", resp.Text, err)
			}
			if got := azure.Log.Passed(); !slices.Equal(got, []string{c.want}) || len(azure.Log.Refusals()) != 0 {
				t.Errorf("asked %q, refused %v", got, azure.Log.Refusals())
			}
		})
	}
}

func TestWhatAzureLacksIsNamed(t *testing.T) {
	_, err := askCloud(t, provider.Settings{Model: "azure/x", Env: environment("AZURE_OPENAI_API_KEY=k")})
	if err == nil || !strings.Contains(err.Error(), "AZURE_OPENAI_ENDPOINT is not set") || !strings.Contains(err.Error(), "providers.azure.base_url") {
		t.Errorf("%v", err)
	}
	_, url := newAzure(t)
	_, err = askCloud(t, provider.Settings{Model: "azure/x", Env: environment("AZURE_OPENAI_ENDPOINT=" + url)})
	if !errors.Is(err, provider.ErrNoKey) || !strings.Contains(err.Error(), "set AZURE_OPENAI_API_KEY") {
		t.Errorf("%v", err)
	}
	azure, url := newAzure(t)
	s := provider.Settings{
		Model: "azure/gone", Env: environment("AZURE_OPENAI_ENDPOINT="+url, "AZURE_OPENAI_API_KEY=azure-resource-key-0123456789"),
		Providers: map[string]provider.Config{"azure": {BaseURL: "${AZURE_OPENAI_ENDPOINT}/openai/deployments/{model}?api-version=2024-10-21"}},
	}
	if _, err = askCloud(t, s); err == nil || !strings.Contains(err.Error(), "deployment") {
		t.Errorf("%v, refused %v", err, azure.Log.Refusals())
	}
}

func TestTheDoctorSaysWhatHoldsForAzure(t *testing.T) {
	azure, url := newAzure(t, modeltest.Text("ready"), modeltest.Calls(modeltest.Call{Name: "report", Args: `{"word":"ready"}`}))
	target, err := provider.Resolve(provider.Settings{Model: "azure/my-gpt", Env: environment("AZURE_OPENAI_ENDPOINT=" + url), Providers: map[string]provider.Config{
		"azure": {KeyCommand: []string{"/bin/echo", "entra-token"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	said := ""
	for _, c := range dial.Endpoint(t.Context(), target.Provider, target.Model) {
		if !c.OK {
			t.Errorf("%+v", c)
		}
		said += c.Name + ": " + c.Detail + "\n"
	}
	for _, want := range []string{"key: written by echo (not shown)", "does not list those that you have", "my-gpt answered", "my-gpt calls tools"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is missing in\n%s", want, said)
		}
	}
	if strings.Contains(said, "entra-token") || len(azure.Log.Refusals()) != 0 {
		t.Errorf("%v\n%s", azure.Log.Refusals(), said)
	}
}

func TestHeadersAndAddressesNameVariables(t *testing.T) {
	srv := modeltest.New(t, modeltest.Text("Here."))
	own := map[string]provider.Config{"work": {BaseURL: "${WORK_LLM}/?tenant=7&key=abc", Local: true, Headers: map[string]string{"X-Team": "team-${TEAM}-${PART}"}}}
	s := provider.Settings{Model: "work/m", Providers: own, Env: environment("WORK_LLM="+srv.URL(), "TEAM=blue", "PART=one")}
	if _, err := askCloud(t, s); err != nil {
		t.Fatal(err)
	}
	if got := srv.Requests()[0]; got.Header.Get("X-Team") != "team-blue-one" {
		t.Errorf("%v", got.Header)
	}
	if own["work"].Headers["X-Team"] != "team-${TEAM}-${PART}" {
		t.Error("the settings have changed")
	}
	s.Env = environment("WORK_LLM="+srv.URL(), "TEAM=blue")
	if _, err := askCloud(t, s); err == nil || !strings.Contains(err.Error(), "its header X-Team: PART is not set") {
		t.Errorf("%v", err)
	}
	target, err := provider.Resolve(provider.Settings{Model: "work/m", Providers: own, Env: environment("WORK_LLM=https://h/v1", "TEAM=a", "PART=b")})
	if shown := target.Provider.Address(); err != nil || shown != "https://h/v1/?tenant=7&key=…" {
		t.Errorf("%q, %v", shown, err)
	}
}
