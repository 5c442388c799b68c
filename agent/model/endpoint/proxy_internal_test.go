package endpoint

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

func TestProxyThatRefusesToConnectIsAFaultOfTheProxy(t *testing.T) {
	if err := proxyAnswer(t.Context(), nil, nil, &http.Response{StatusCode: http.StatusOK}); err != nil {
		t.Error(err)
	}
	err := proxyAnswer(t.Context(), nil, nil, &http.Response{StatusCode: 407, Status: "407 Proxy Authentication Required"})
	err = fmt.Errorf("stream: %w", &url.Error{Op: "Post", URL: "https://example.invalid", Err: err})
	if !isProxyFault(err) {
		t.Fatalf("no fault of the proxy: %v", err)
	}
	if said := (&Endpoint{}).proxyFault(err); !strings.Contains(said, "wants a user and a password") {
		t.Error(said)
	}
}
