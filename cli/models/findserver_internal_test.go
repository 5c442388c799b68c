package modelscli

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// An address without scheme and path leads to the server, with or without a key; a wrong one is said in words
// that help.
func TestAnOwnServerIsFoundByItsAddress(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		path   string
		status int
		body   string
		found  string // what follows the address
		said   string
	}{
		"v1":         {"/v1/models", 200, `{"data":[{"id":"coder"}]}`, "/v1", ""},
		"root":       {"/models", 200, `{"data":[{"id":"coder"}]}`, "", ""},
		"locked":     {"/v1/models", 401, `{"error":{"message":"no key"}}`, "/v1", ""},
		"other":      {"/other", 200, "", "", "/v1/models answered HTTP 404"},
		"web page":   {"/v1/models", 200, "<html>hello</html>", "", "gave no list of models"},
		"no models":  {"/v1/models", 200, `{"data":[]}`, "", "/v1/models names no model"},
		"not a path": {"/other/models", 200, `{"data":[{"id":"coder"}]}`, "", "Is the server running"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != c.path {
					w.WriteHeader(http.StatusNotFound)
					return
				}
				w.WriteHeader(c.status)
				_, _ = w.Write([]byte(c.body)) // an error means that the client has left
			}))
			t.Cleanup(s.Close)
			found, err := findServer(t.Context(), strings.TrimPrefix(s.URL, "http://"))
			switch {
			case c.said == "" && (err != nil || found != s.URL+c.found):
				t.Errorf("found %q, %v", found, err)
			case c.said != "" && (err == nil || !strings.Contains(err.Error(), c.said)):
				t.Errorf("said %v", err)
			}
		})
	}
	s := httptest.NewServer(http.NotFoundHandler())
	s.Close()
	_, err := findServer(t.Context(), s.Listener.Addr().String())
	if err == nil || !strings.Contains(err.Error(), "did not answer") || strings.Contains(err.Error(), "dial tcp") {
		t.Errorf("a closed port: %v", err)
	}
}

func TestAnAddressIsCompleted(t *testing.T) {
	t.Parallel()
	for address, want := range map[string][]string{
		"127.0.0.1:8000":       {"http://127.0.0.1:8000/v1", "http://127.0.0.1:8000"},
		"[::1]:8000":           {"http://[::1]:8000/v1", "http://[::1]:8000"},
		"box:8000/":            {"http://box:8000/v1", "http://box:8000"},
		"192.168.1.2/api":      {"http://192.168.1.2/api"},
		"models.example.com":   {"https://models.example.com/v1", "https://models.example.com"},
		"http://example.com/x": {"http://example.com/x"},
	} {
		if got := serverAddresses(address); !slices.Equal(got, want) {
			t.Errorf("%s: %q", address, got)
		}
	}
}
