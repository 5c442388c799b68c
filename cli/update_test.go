package cli_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"jcode/cli"
	"jcode/cli/console"
)

func TestUpdateCheckUnderstandsItsOwnFormAndACodeHosts(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, test := range map[string]struct {
		answer string
		status int
		code   int
		says   string
	}{
		"newer":         {answer: `{"version":"99.0.0","url":"https://example.org/get"}`, says: "jcode 99.0.0 is available"},
		"release":       {answer: `{"tag_name":"v99.1.0","html_url":"https://example.org/r"}`, says: "https://example.org/r"},
		"same or older": {answer: `{"version":"0.0.1"}`, says: "is the newest release"},
		"no version":    {answer: `{"version":"latest"}`, code: 1, says: "no version"},
		"no JSON":       {answer: "<html>\x1b[31mhello", code: 1, says: "not JSON: <html>hello"},
		"refused":       {answer: "not here", status: 404, code: 1, says: "404"},
	} {
		t.Run(name, func(t *testing.T) {
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if test.status != 0 {
					w.WriteHeader(test.status)
				}
				_, _ = w.Write([]byte(test.answer))
			}))
			defer srv.Close()
			home := t.TempDir()
			if err := os.WriteFile(filepath.Join(home, "config.json"), []byte(`{"update":{"url":"`+srv.URL+`"}}`), 0o600); err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			env := map[string]string{"JCODE_HOME": home, "HOME": home}
			code := cli.Main([]string{"update", "--check"}, cli.Streams{Streams: console.Streams{
				In: strings.NewReader(""), Out: &out, Err: &out, Getenv: func(k string) string { return env[k] },
			}})
			if code != test.code || !strings.Contains(out.String(), test.says) {
				t.Errorf("exit %d: %s", code, out.String())
			}
		})
	}
}
