//go:build !windows

package credential_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"jcode/agent/model"
	"jcode/agent/model/credential"
	"jcode/agent/model/dial"
	"jcode/agent/model/provider"
	"jcode/internal/testkit/leaks"
	"jcode/internal/testkit/modeltest"
	"jcode/internal/testkit/programs"
)

func TestMain(m *testing.M) { leaks.Main(m) }

// keys is a command that writes key-1, key-2 … one at each run, in a form.
type keys struct {
	t    *testing.T
	dir  string
	Args []string
}

func newKeys(t *testing.T, format string) *keys {
	t.Helper()
	dir := t.TempDir()
	script := filepath.Join(dir, "writekey")
	text := "#!/bin/sh\ncd '" + dir + "'\necho x >>runs\nn=$(wc -l <runs | tr -d ' ')\nif [ -e fail ]; then cat fail >&2; exit 3; fi\nsed \"s/@/$n/\" <format\n"
	programs.File(t, script, text, 0o700)
	if err := os.WriteFile(filepath.Join(dir, "format"), []byte(format), 0o600); err != nil {
		t.Fatal(err)
	}
	return &keys{t: t, dir: dir, Args: []string{script}}
}

// Runs returns how often it ran.
func (k *keys) Runs() int {
	data, err := os.ReadFile(filepath.Join(k.dir, "runs"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		k.t.Fatal(err)
	}
	return strings.Count(string(data), "\n")
}

// door is a server that takes some keys.
type door struct {
	*httptest.Server
	models *modeltest.Handler
	header string // "" for Authorization

	mu      sync.Mutex
	good    map[string]bool
	refused int
}

func newDoor(t *testing.T, header string, good ...string) *door {
	d := &door{models: modeltest.NewHandler(), header: header, good: map[string]bool{}}
	for _, g := range good {
		d.good[g] = true
	}
	d.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		if d.header != "" {
			if key != "" {
				t.Errorf("the key is in Authorization, too")
			}
			key = r.Header.Get(d.header)
		}
		d.mu.Lock()
		ok := d.good[key]
		if !ok {
			d.refused++
		}
		d.mu.Unlock()
		if !ok {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprintf(w, `{"error":{"message":"the key %s has expired"}}`, key)
			return
		}
		r.Header.Set("Authorization", "Bearer "+key) // as the models behind it want it
		r.Header.Set("X-Api-Key", key)
		d.models.ServeHTTP(w, r)
	}))
	t.Cleanup(d.Close)
	return d
}

// Now lets these keys in, and no others.
func (d *door) Now(good ...string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.good = map[string]bool{}
	for _, g := range good {
		d.good[g] = true
	}
}

func (d *door) Refused() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.refused
}

// open returns a client of an endpoint whose key a command writes.
func open(t *testing.T, cfg provider.Config) dial.Client {
	t.Helper()
	cfg.Name = "work"
	cfg.Limits = provider.Limits{Idle: time.Minute, Attempts: 3, Backoff: time.Millisecond, MaxBackoff: time.Millisecond}
	c, err := dial.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func say(t *testing.T, c model.Client, text string) (model.Response, []model.Event, error) {
	t.Helper()
	var events []model.Event
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	resp, err := c.Stream(ctx, model.Request{Model: "m", Messages: []model.Message{{Role: model.RoleUser, Text: text}}}, func(e model.Event) { events = append(events, e) })
	return resp, events, err
}

// A key that expires in the middle of a session is replaced by the command's next one: nothing of it is seen, and no
// message arrives twice.
func TestAKeyByCommandIsReplacedWhenItIsRefused(t *testing.T) {
	t.Parallel()
	for _, protocol := range []provider.Protocol{provider.Chat, provider.Messages, provider.Responses} {
		for _, header := range []string{"", "X-Gateway-Key"} {
			t.Run(string(protocol)+" "+header, func(t *testing.T) {
				t.Parallel()
				command, d := newKeys(t, "key-number-@"), newDoor(t, header, "key-number-1")
				d.models.Add(modeltest.Text("one"), modeltest.Text("two"), modeltest.Text("three"))
				c := open(t, provider.Config{BaseURL: d.URL + "/v1", Protocol: protocol, KeyCommand: command.Args, KeyHeader: header})
				for i, want := range []string{"one", "two", "three"} {
					if i == 2 {
						d.Now("key-number-2")
					}
					resp, events, err := say(t, c, "say "+want)
					if err != nil || resp.Text != want {
						t.Fatalf("%q, %v", resp.Text, err)
					}
					text := ""
					for _, e := range events {
						switch e := e.(type) {
						case model.TextEvent:
							text += e.Delta
						case model.RetryEvent, model.NoticeEvent, model.ResetEvent:
							t.Errorf("the person hears %#v", e)
						}
					}
					if text != want {
						t.Errorf("shown: %q", text)
					}
				}
				if runs, refused, asked := command.Runs(), d.Refused(), len(d.models.Requests()); runs != 2 || refused != 1 || asked != 3 {
					t.Errorf("the command ran %d times, %d requests were refused and %d answered", runs, refused, asked)
				}
			})
		}
	}
}

func TestAKeyThatIsRefusedTwiceIsReported(t *testing.T) {
	command, d := newKeys(t, "some-secret-key-0123456789-@"), newDoor(t, "")
	_, _, err := say(t, open(t, provider.Config{BaseURL: d.URL + "/v1", KeyCommand: command.Args}), "x")
	var bad *model.Error
	if !errors.As(err, &bad) || bad.Class != model.ClassAuth || !strings.Contains(err.Error(), "providers.work.key_command") || strings.Contains(err.Error(), "some-secret-key") {
		t.Errorf("%v", err)
	}
	if command.Runs() != 2 || d.Refused() != 2 {
		t.Errorf("the command ran %d times, %d requests were sent", command.Runs(), d.Refused())
	}
}

func jwt(exp int64) string {
	part := func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }
	return part(`{"alg":"none"}`) + "." + part(fmt.Sprintf(`{"exp":%d}`, exp)) + ".signature@"
}

// A key that says when it ends is replaced before that.
func TestAKeyByCommandIsKeptUntilItExpires(t *testing.T) {
	t.Parallel()
	soon, late := time.Now().Add(10*time.Second), time.Now().Add(time.Hour)
	for name, c := range map[string]struct {
		writes string
		runs   int
	}{
		"a key alone":               {"plain-key-@", 1},
		"a JWT that holds":          {jwt(late.Unix()), 1},
		"a JWT that ends soon":      {jwt(soon.Unix()), 2},
		"expires_in, long":          {`{"access_token":"key-@","expires_in":3600}`, 1},
		"expires_in, short":         {`{"access_token":"key-@","expires_in":"10"}`, 2},
		"az":                        {fmt.Sprintf(`{"accessToken":"key-@","expiresOn":"2030-01-01 00:00:00.000000","expires_on":%d,"tokenType":"Bearer"}`, soon.Unix()), 2},
		"kubectl":                   {fmt.Sprintf(`{"kind":"ExecCredential","status":{"token":"key-@","expirationTimestamp":%q}}`, late.UTC().Format(time.RFC3339)), 1},
		"kubectl, soon":             {fmt.Sprintf(`{"kind":"ExecCredential","status":{"token":"key-@","expirationTimestamp":%q}}`, soon.UTC().Format(time.RFC3339)), 2},
		"JSON without a word of it": {`{"token":"key-@"}`, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			command := newKeys(t, c.writes)
			srv := modeltest.New(t, modeltest.Text("a"), modeltest.Text("b"))
			client := open(t, provider.Config{BaseURL: srv.URL(), KeyCommand: command.Args})
			for range 2 {
				if _, _, err := say(t, client, "x"); err != nil {
					t.Fatal(err)
				}
			}
			if command.Runs() != c.runs {
				t.Errorf("ran %d times", command.Runs())
			}
			for i, r := range srv.Requests() {
				key := r.Header.Get("Authorization")
				if !strings.HasSuffix(key, fmt.Sprint(min(i+1, c.runs))) || strings.ContainsAny(key, "{\n") {
					t.Errorf("request %d: %q", i, key)
				}
			}
		})
	}
}

func TestAKeyCommandThatFailsSaysWhyAndNeverWhatItWrote(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ writes, fails, want string }{
		"it fails":           {"x", "You do not have an active account.\nmore", "failed: exit status 3: You do not have an active account."},
		"nothing":            {"", "", "wrote nothing"},
		"words":              {"Your key is secret-words-here", "", "wrote more than a key"},
		"lines":              {"secret-line-one\nsecret-line-two", "", "wrote more than a key"},
		"JSON of other kind": {`{"secret":"secret-of-json"}`, "", "without access_token"},
		"half of JSON":       {`{"access_token":"secret-half`, "", "cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			command := newKeys(t, c.writes)
			if c.fails != "" {
				if err := os.WriteFile(filepath.Join(command.dir, "fail"), []byte(c.fails), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			srv := modeltest.New(t)
			cfg := provider.Config{Name: "work", BaseURL: srv.URL(), KeyCommand: command.Args}
			_, _, err := say(t, open(t, cfg), "x")
			var bad *model.Error
			if !errors.As(err, &bad) || bad.Class != model.ClassAuth || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%v", err)
			}
			if command.Runs() != 1 || len(srv.Requests()) != 0 {
				t.Errorf("ran %d times, %d requests", command.Runs(), len(srv.Requests()))
			}
			if _, err := credential.Describe(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("doctor: %v", err)
			}
		})
	}
	_, _, err := say(t, open(t, provider.Config{BaseURL: "http://127.0.0.1:9/v1", KeyCommand: []string{"no-such-program-of-keys"}}), "x")
	if err == nil || !strings.Contains(err.Error(), "correct providers.work.key_command") {
		t.Errorf("%v", err)
	}
}

// Many requests that begin at once run the command once.
func TestRequestsThatBeginTogetherRunTheKeyCommandOnce(t *testing.T) {
	command := newKeys(t, "key-@")
	d := newDoor(t, "", "key-1")
	d.models.Add(modeltest.Text("x").Times(8))
	c := open(t, provider.Config{BaseURL: d.URL + "/v1", KeyCommand: command.Args})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if _, _, err := say(t, c, "x"); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if command.Runs() != 1 {
		t.Errorf("ran %d times", command.Runs())
	}
}
