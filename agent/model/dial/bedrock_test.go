//go:build !windows

package dial_test

import (
	"context"
	"errors"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"jcode/agent/model"
	"jcode/agent/model/dial"
	"jcode/agent/model/provider"
	"jcode/internal/testkit/cloudtest"
	"jcode/internal/testkit/modeltest"
	"jcode/internal/testkit/programs"
)

const (
	claudeOnBedrock = "eu.anthropic.claude-sonnet-4-5-20250929-v1:0"
	profileARN      = "arn:aws:bedrock:eu-central-1:123456789012:application-inference-profile/anthropic.claude-x"
)

// firstAccount is whose credentials are good at first.
func firstAccount() cloudtest.Account {
	return cloudtest.Account{ID: "AKIDFIRST", Secret: "first/secret+key0123456789abcdefghijklmnop", Token: "first-session-token-0123456789", Region: "eu-central-1", Service: "bedrock"}
}

func secondAccount() cloudtest.Account {
	return cloudtest.Account{ID: "AKIDSECOND", Secret: "second/secret+key0123456789abcdefghijklmno", Region: "eu-central-1", Service: "bedrock"}
}

func newBedrock(t *testing.T, replies ...modeltest.Reply) (*cloudtest.Bedrock, string) {
	t.Helper()
	b := &cloudtest.Bedrock{Models: modeltest.NewHandler(replies...), IDs: []string{claudeOnBedrock, profileARN, "anthropic.claude-3-5-haiku-20241022-v1:0"}, Key: "bedrock-api-key-0123456789"}
	b.Account(firstAccount())
	srv := httptest.NewServer(b)
	t.Cleanup(func() {
		srv.Close()
		for _, breach := range b.Models.Breaches() {
			t.Error(breach)
		}
	})
	return b, srv.URL
}

// onBedrock returns settings for the server, with nothing of the machine's own.
func onBedrock(t *testing.T, url, id string, own provider.Config, env ...string) provider.Settings {
	t.Helper()
	own.BaseURL = url
	none := filepath.Join(t.TempDir(), "none")
	env = append(env, "AWS_CONFIG_FILE="+none, "AWS_SHARED_CREDENTIALS_FILE="+none)
	return provider.Settings{
		Model: "bedrock/" + id, Env: environment(env...), Providers: map[string]provider.Config{"bedrock": own},
		Limits: provider.Limits{Idle: time.Minute, Attempts: 2, Backoff: time.Millisecond, MaxBackoff: time.Millisecond},
	}
}

func inEnvironment(a cloudtest.Account) []string {
	return []string{"AWS_REGION=" + a.Region, "AWS_ACCESS_KEY_ID=" + a.ID, "AWS_SECRET_ACCESS_KEY=" + a.Secret, "AWS_SESSION_TOKEN=" + a.Token}
}

func writeFile(t *testing.T, path, text string) string {
	t.Helper()
	programs.File(t, path, text, 0o700)
	return path
}

func TestBedrockIsAskedWithCredentialsFromEverywhere(t *testing.T) {
	first := firstAccount()
	process := `{"Version":1,"AccessKeyId":"` + first.ID + `","SecretAccessKey":"` + first.Secret + `","SessionToken":"` + first.Token + `"}`
	shared := "[default]\naws_access_key_id=wrong\naws_secret_access_key=wrong\n[work] # mine\naws_access_key_id = " + first.ID + "\naws_secret_access_key=" + first.Secret + "\naws_session_token=" + first.Token + "\n"
	for name, c := range map[string]struct {
		id  string
		own provider.Config
		env func(dir string) []string
	}{
		"the environment": {claudeOnBedrock, provider.Config{}, func(string) []string { return inEnvironment(first) }},
		"an ARN":          {profileARN, provider.Config{}, func(string) []string { return inEnvironment(first) }},
		"an API key":      {claudeOnBedrock, provider.Config{Region: "eu-central-1"}, func(string) []string { return []string{"AWS_BEARER_TOKEN_BEDROCK=bedrock-api-key-0123456789"} }},
		"the shared file": {claudeOnBedrock, provider.Config{Profile: "work"}, func(dir string) []string {
			return []string{"AWS_SHARED_CREDENTIALS_FILE=" + writeFile(t, filepath.Join(dir, "credentials"), shared), "AWS_CONFIG_FILE=" + writeFile(t, filepath.Join(dir, "config"), "[profile work]\nregion = eu-central-1\n")}
		}},
		"AWS_PROFILE": {claudeOnBedrock, provider.Config{}, func(dir string) []string {
			return []string{"AWS_PROFILE=work", "AWS_DEFAULT_REGION=eu-central-1", "AWS_SHARED_CREDENTIALS_FILE=" + writeFile(t, filepath.Join(dir, "credentials"), shared)}
		}},
		"a process of the profile": {claudeOnBedrock, provider.Config{Profile: "made"}, func(dir string) []string {
			script := writeFile(t, filepath.Join(dir, "process"), "#!/bin/sh\n[ \"$1\" = 'two words' ] && echo '"+process+"'\n")
			return []string{"AWS_CONFIG_FILE=" + writeFile(t, filepath.Join(dir, "config"), "[profile made]\nregion=eu-central-1\ncredential_process = \""+script+"\" \"two words\"\n")}
		}},
		"a command": {claudeOnBedrock, provider.Config{Region: "eu-central-1", KeyCommand: []string{"/bin/echo", process}}, func(string) []string { return inEnvironment(secondAccount()) }},
	} {
		t.Run(name, func(t *testing.T) {
			b, url := newBedrock(t, modeltest.Text("Here ", "it is.").WithReasoning("think"))
			s := onBedrock(t, url, c.id, c.own)
			s.Env = environment(append(c.env(t.TempDir()), "AWS_CONFIG_FILE=/nowhere", "AWS_SHARED_CREDENTIALS_FILE=/nowhere")...)
			resp, err := askCloud(t, s)
			if err != nil || resp.Text != "Here it is." {
				t.Fatalf("%q, %v", resp.Text, err)
			}
			if len(b.Log.Passed()) != 1 || len(b.Log.Refusals()) != 0 || strings.Contains(b.Log.Passed()[0], ":0/") {
				t.Errorf("asked %q, refused %v", b.Log.Passed(), b.Log.Refusals())
			}
		})
	}
}

// conversation is a client that is asked several times.
func conversation(t *testing.T, s provider.Settings) func(text string) (model.Response, []model.Event, error) {
	t.Helper()
	target, err := provider.Resolve(s)
	if err != nil {
		t.Fatal(err)
	}
	client, err := dial.Open(target.Provider)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return func(text string) (model.Response, []model.Event, error) {
		var events []model.Event
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		resp, err := client.Stream(ctx, model.Request{Model: target.Model, Messages: []model.Message{{Role: model.RoleUser, Text: text}}}, func(e model.Event) {
			if _, ok := e.(model.TextEvent); !ok {
				events = append(events, e)
			}
		})
		return resp, events, err
	}
}

// Credentials that expire, and a clock that runs wrong, in the middle of a session cost nobody a word.
func TestBedrockGoesOnWhenCredentialsExpireAndClocksDiffer(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "credentials")
	write := func(a cloudtest.Account) {
		writeFile(t, file, "[default]\naws_access_key_id="+a.ID+"\naws_secret_access_key="+a.Secret+"\naws_session_token="+a.Token+"\n")
	}
	write(firstAccount())
	b, url := newBedrock(t, modeltest.Text("one"), modeltest.Text("two"), modeltest.Text("three"), modeltest.Text("four"), modeltest.Text("five"))
	s := onBedrock(t, url, claudeOnBedrock, provider.Config{Region: "eu-central-1"})
	script := writeFile(t, filepath.Join(dir, "keys"), "#!/bin/sh\necho x >>"+filepath.Join(dir, "runs")+"\nsed -n 's/aws_access_key_id=/{\"AccessKeyId\":\"/p; s/aws_secret_access_key=/\",\"SecretAccessKey\":\"/p; s/aws_session_token=/\",\"SessionToken\":\"/p; $s/.*/\"}/p' "+file+" | tr -d '\\n'\n")
	s.Providers["bedrock"] = provider.Config{BaseURL: url, Region: "eu-central-1", KeyCommand: []string{script}}
	ask := conversation(t, s)
	step := func(want string) {
		t.Helper()
		if resp, events, err := ask("x"); err != nil || resp.Text != want || len(events) != 0 {
			t.Fatalf("%q, %v, %v", resp.Text, events, err)
		}
	}
	step("one")
	b.Account(secondAccount())
	write(secondAccount())
	step("two") // the old ones are expired
	b.Ahead(20 * time.Minute)
	step("three")
	step("four") // the difference is known by now
	b.Ahead(-20 * time.Minute)
	step("five")
	if got := b.Log.Refusals(); len(got) != 3 || len(b.Models.Requests()) != 5 {
		t.Errorf("refused %v, answered %d", got, len(b.Models.Requests()))
	}
	if runs, err := os.ReadFile(filepath.Join(dir, "runs")); err != nil || strings.Count(string(runs), "x") != 2 {
		t.Errorf("the command ran %q, %v", runs, err)
	}
}

func TestCredentialsInTheSharedFileAreReadAgainWhenTheyExpire(t *testing.T) {
	file := filepath.Join(t.TempDir(), "credentials")
	write := func(a cloudtest.Account) {
		writeFile(t, file, "[default]\naws_access_key_id="+a.ID+"\naws_secret_access_key="+a.Secret+"\naws_session_token="+a.Token+"\n")
	}
	write(firstAccount())
	b, url := newBedrock(t, modeltest.Text("one"), modeltest.Text("two"))
	s := onBedrock(t, url, claudeOnBedrock, provider.Config{Region: "eu-central-1"})
	s.Env = environment("AWS_SHARED_CREDENTIALS_FILE="+file, "AWS_CONFIG_FILE=/nowhere")
	ask := conversation(t, s)
	if _, _, err := ask("x"); err != nil {
		t.Fatal(err)
	}
	b.Account(secondAccount())
	_, _, err := ask("x")
	var bad *model.Error
	if !errors.As(err, &bad) || bad.Class != model.ClassAuth || !strings.Contains(err.Error(), "expired") {
		t.Errorf("with the old ones: %v", err)
	}
	write(secondAccount())
	if resp, _, err := ask("x"); err != nil || resp.Text != "two" {
		t.Errorf("%q, %v", resp.Text, err)
	}
}

func TestWhatBedrockRefusesIsUnderstood(t *testing.T) {
	b, url := newBedrock(t, modeltest.Text("half").Times(2))
	b.Fault = "throttlingException"
	_, events, err := conversation(t, onBedrock(t, url, claudeOnBedrock, provider.Config{}, inEnvironment(firstAccount())...))("x")
	retried := 0
	for _, e := range events {
		if _, ok := e.(model.RetryEvent); ok {
			retried++
		}
	}
	if err == nil || !strings.Contains(err.Error(), "Too many requests") || retried != 1 {
		t.Errorf("an exception in a stream: %v, %v", err, events)
	}
	for name, c := range map[string]struct {
		id   string
		env  []string
		want string
	}{
		"no such model":  {"anthropic.claude-99", inEnvironment(firstAccount()), "The provided model identifier is invalid"},
		"wrong secret":   {claudeOnBedrock, append([]string{"AWS_SECRET_ACCESS_KEY=other"}, inEnvironment(firstAccount())...), "does not match"},
		"other region":   {claudeOnBedrock, append([]string{"AWS_REGION=us-east-1"}, inEnvironment(firstAccount())...), "scoped to a valid region"},
		"no credentials": {claudeOnBedrock, []string{"AWS_REGION=eu-central-1"}, "set AWS_ACCESS_KEY_ID"},
		"no region":      {claudeOnBedrock, nil, "set AWS_REGION or providers.bedrock.region"},
		"wrong API key":  {claudeOnBedrock, []string{"AWS_REGION=eu-central-1", "AWS_BEARER_TOKEN_BEDROCK=wrong-api-key-0123456789"}, "check the key in AWS_BEARER_TOKEN_BEDROCK"},
	} {
		_, url := newBedrock(t)
		_, err := askCloud(t, onBedrock(t, url, c.id, provider.Config{}, c.env...))
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "wrong-api-key") {
			t.Errorf("%s: %v", name, err)
		}
	}
	signedIn := filepath.Join(t.TempDir(), "config")
	writeFile(t, signedIn, "[profile sso]\nsso_session = x\nregion = eu-central-1\n")
	s := onBedrock(t, url, claudeOnBedrock, provider.Config{Profile: "sso"})
	s.Env = environment("AWS_CONFIG_FILE="+signedIn, "AWS_SHARED_CREDENTIALS_FILE=/nowhere")
	if _, err := askCloud(t, s); err == nil || !strings.Contains(err.Error(), `"key_command": ["aws", "configure", "export-credentials", "--profile", "sso"]`) {
		t.Errorf("a profile with a sign-in: %v", err)
	}
	target, err := provider.Resolve(provider.Settings{Model: "bedrock/x", Env: environment("AWS_REGION=eu-west-1")})
	if err != nil || target.Provider.BaseURL != "https://bedrock-runtime.eu-west-1.amazonaws.com" {
		t.Errorf("%q, %v", target.Provider.BaseURL, err)
	}
}

func TestTheDoctorTriesBedrock(t *testing.T) {
	_, url := newBedrock(t, modeltest.Text("ready"), modeltest.Calls(modeltest.Call{Name: "report", Args: `{"word":"ready"}`}))
	target, err := provider.Resolve(onBedrock(t, url, claudeOnBedrock, provider.Config{}, inEnvironment(firstAccount())...))
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
	for _, want := range []string{"key: credentials of AWS for eu-central-1 (not shown)", "3 listed", "calls tools"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is missing in\n%s", want, said)
		}
	}
}
