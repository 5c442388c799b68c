//go:build linux || darwin

package cli_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"jcode/internal/testkit/modeltest"
	"jcode/internal/testkit/programs"
	"jcode/internal/testkit/terminal"
)

// locked is a model server that accepts only one key.
func locked(t *testing.T, key string, replies ...modeltest.Reply) (url string, srv *modeltest.Handler) {
	t.Helper()
	srv = modeltest.NewHandler(replies...)
	srv.Route(func(r modeltest.Request) (modeltest.Reply, bool) {
		return modeltest.Text("A title"), strings.HasPrefix(r.System(), "Name the task")
	})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+key {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = w.Write([]byte(`{"error":{"message":"Incorrect API key provided"}}`)) // an error means that the client has left
			return
		}
		srv.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL + "/v1", srv
}

func TestFirstRunTakesAnAPIKey(t *testing.T) {
	t.Parallel()
	url, _ := locked(t, "sk-right-0123456789", modeltest.Text("Hello from the model."))
	c := newChat(t)
	settings := filepath.Join(c.home, "config.json")
	if err := os.WriteFile(settings, []byte(`{"providers": {"acme": {"base_url": "`+url+`", "key_env": "ACME_API_KEY"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	stored := filepath.Join(c.home, "credentials.json")
	cmd := exec.Command("jcode")
	cmd.Dir = c.dir
	for _, kv := range os.Environ() {
		if name, _, _ := strings.Cut(kv, "="); !strings.HasSuffix(name, "_API_KEY") && name != "OPENAI_BASE_URL" && name != "JCODE_MODEL" {
			cmd.Env = append(cmd.Env, kv)
		}
	}
	cmd.Env = append(cmd.Env, "JCODE_HOME="+c.home, "HOME="+c.home)
	term, err := terminal.Start(cmd, 90, 28)
	if err != nil {
		t.Fatal(err)
	}
	c.Terminal = term
	t.Cleanup(term.Close)

	if _, err := c.Wait(patience, func(s terminal.Screen) bool { return s.Contains("Choose how to begin") && !s.CursorVisible }); err != nil {
		t.Errorf("a list that takes no text shows a cursor: %v", err)
	}
	c.choose("Enter an API key")
	c.wait("Whose key?")
	c.Type("acme")
	c.wait("search: acme")
	c.Press("enter")
	c.wait("API key for acme")
	c.Press("esc") // the person changes their mind
	c.wait("Choose how to begin")
	c.choose("Enter an API key")
	c.wait("Whose key?")
	c.Type("acme")
	c.wait("search: acme")
	c.Press("enter")
	c.wait("API key for acme")

	c.Paste("sk-wrong\n")
	c.wait("key: ••••••••")
	c.Press("enter")
	s := c.wait("acme refuses this key", "not stored")
	if strings.Contains(s.Text(), "sk-wrong") {
		t.Errorf("the key is on the screen:\n%s", s.Text())
	}
	if _, err := os.Stat(stored); err == nil {
		t.Error("a wrong key was stored")
	}

	c.Type("sk-right-0123456789")
	c.wait("key: •••••••••••••••••••")
	c.Press("enter")
	c.wait("ask for something")
	c.say("hi")
	c.wait("Hello from the model.")
	info, err := os.Stat(stored)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("the key's file has mode %v", info.Mode())
	}
	if data, err := os.ReadFile(stored); err != nil || !strings.Contains(string(data), "sk-right-0123456789") {
		t.Errorf("stored: %s, %v", data, err)
	}
	if strings.Contains(c.Output(), "sk-right") {
		t.Error("the key was written to the terminal")
	}
	c.quit()
}

// A refused key is replaced in the chat even if the environment contains the wrong one.
func TestAWrongKeyOfTheEnvironmentIsMendedInTheChat(t *testing.T) {
	t.Parallel()
	url, srv := locked(t, "sk-right-0123456789", modeltest.Text("Hello from the model."))
	c := newChat(t)
	c.env = []string{"OPENAI_BASE_URL=" + url, "OPENAI_API_KEY=sk-wrong-0123456789"}
	c.start()
	c.say("hello")
	c.wait("Incorrect API key provided", "check the key in OPENAI_API_KEY", "/login enters another key.")
	c.say("/login")
	c.choose("Enter an API key")
	c.wait("Whose key?")
	c.Press("enter") // the current endpoint comes first
	c.wait("API key for http", "used until jcode ends")
	c.mendsKey(srv, "Going on with test-model", "put it into OPENAI_API_KEY for the next start")
}

func TestAWrongKeyOfAProviderIsMendedInTheChat(t *testing.T) {
	t.Parallel()
	url, srv := locked(t, "sk-right-0123456789", modeltest.Text("Hello from the model."))
	c := newChat(t)
	put(t, filepath.Join(c.home, "config.json"), `{"providers": {"acme": {"base_url": "`+url+`", "key_env": "ACME_API_KEY"}}}`)
	c.env = []string{"OPENAI_BASE_URL=", "OPENAI_API_KEY=", "ACME_API_KEY=sk-wrong-0123456789", "JCODE_MODEL=acme/test-model"}
	c.start()
	c.say("hello")
	c.wait("Incorrect API key provided", "/login enters another key.")
	c.say("/login")
	c.choose("Enter an API key")
	c.wait("Whose key?")
	c.choose("acme")
	c.wait("API key for acme")
	c.mendsKey(srv, "Going on with acme/test-model", "ACME_API_KEY in the environment holds another key")
}

// mendsKey enters the right key, waits for texts in reply, and continues with the same model.
func (c *chat) mendsKey(srv *modeltest.Handler, texts ...string) {
	c.t.Helper()
	c.Type("sk-right-0123456789")
	c.wait("•••")
	c.Press("enter")
	c.wait(texts...)
	c.say("once more")
	c.wait("Hello from the model.")
	c.idle()
	if !slices.ContainsFunc(srv.Requests(), func(r modeltest.Request) bool { return strings.Contains(string(r.Raw), `"test-model"`) }) {
		c.t.Error("the model was changed with the key")
	}
	c.quit()
}

func TestPictureFromTheClipboardReachesTheModel(t *testing.T) {
	t.Parallel()
	script := "case \"$*\" in --list-types) echo image/png;; *) printf '\\211\\120\\116\\107\\015\\012\\032\\012\\000\\000\\000\\015\\111\\110\\104\\122\\000\\000\\000\\001\\000\\000\\000\\001\\010\\006\\000\\000\\000\\037\\025\\304\\211\\000\\000\\000\\015\\111\\104\\101\\124\\170\\332\\143\\144\\370\\317\\120\\017\\000\\003\\206\\001\\200\\132\\064\\175\\153\\000\\000\\000\\000\\111\\105\\116\\104\\256\\102\\140\\202';; esac\n"
	bin := programs.Write(t, map[string]string{"wl-paste": script})
	c := newChat(t, modeltest.Text("A picture of digits."))
	c.env = append(c.env, "PATH="+programs.First(bin), "WAYLAND_DISPLAY=wayland-test")
	c.start()
	c.Type("what is")
	c.wait("› what is")
	c.Press("ctrl+v")
	c.wait("› what is [Picture #1 1×1]")
	c.Press("enter")
	c.wait("A picture of digits.")
	req := c.request(0)
	if last := req.Prompt(); last.Images != 1 || !strings.Contains(strings.ReplaceAll(last.Content, `"`, ""), "what is @"+c.home) {
		t.Errorf("%d pictures in %q", last.Images, last.Content)
	}
	if !strings.Contains(string(req.Raw), "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==") {
		t.Errorf("the picture is not in the request: %s", req.Raw)
	}
	c.quit()
}
