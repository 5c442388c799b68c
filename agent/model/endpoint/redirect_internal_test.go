package endpoint

import (
	"errors"
	"net/http"
	"net/url"
	"testing"

	"jcode/agent/model/provider"
)

// The same host over another scheme or port is another server. Only from HTTP to HTTPS, on the
// usual ports, is the same one.
func TestAKeyIsForOneServerAndNeverGoesFromHTTPSToHTTP(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		from, to string
		same     bool
	}{
		{"https://api.example.com/v1", "https://api.example.com:443/v2", true},
		{"http://localhost:8080/v1", "http://localhost:8080/", true},
		{"http://api.example.com/v1", "https://api.example.com/v1", true},
		{"https://api.example.com/v1", "http://api.example.com/v1", false},
		{"https://api.example.com/v1", "http://api.example.com:443/v1", false},
		{"http://localhost:8080/v1", "https://localhost/v1", false},
		{"http://localhost:8080/v1", "http://localhost:8081/v1", false},
		{"https://api.example.com/v1", "https://evil.api.example.com/v1", false},
		{"https://api.example.com/v1", "https://example.com/v1", false},
		{"https://api.example.com/v1", "https://api.example.com.evil.example/v1", false},
		{"https://api.example.com/v1", "https://api.example.com@evil.example/v1", false},
	} {
		from, err := url.Parse(c.from)
		if err != nil {
			t.Fatal(err)
		}
		to, err := url.Parse(c.to)
		if err != nil {
			t.Fatal(err)
		}
		if got := sameServer(from, to); got != c.same {
			t.Errorf("%s to %s: %v", c.from, c.to, got)
		}
		end, err := New(provider.Config{BaseURL: c.from, Key: "sk-very-secret-key"})
		if err != nil {
			t.Fatal(err)
		}
		if c.same {
			continue
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.to, nil)
		if err != nil {
			t.Fatal(err)
		}
		if resp, err := end.RoundTrip(req); !errors.Is(err, errForeign) {
			t.Errorf("%s was asked with the key of %s: %v, %v", c.to, c.from, resp, err)
		}
		end.Close()
	}
}
