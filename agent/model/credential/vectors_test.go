package credential

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"jcode/internal/testkit/cloudtest"
)

// The vectors that AWS publishes for Signature Version 4, and the example of its description: the library signs as they
// say, and the server of the tests checks as they say.
func TestSignaturesAreThoseOfTheVectorsOfAWS(t *testing.T) {
	keys := awsKeys{id: "AKIDEXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"}
	at := time.Date(2015, 8, 30, 12, 36, 0, 0, time.UTC)
	const form = "application/x-www-form-urlencoded"
	for name, c := range map[string]struct {
		method, url, service, kind, body, want string
	}{
		"get-vanilla":                      {"GET", "https://example.amazonaws.com/", "service", "", "", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
		"get-vanilla-query-order-key-case": {"GET", "https://example.amazonaws.com/?Param2=value2&Param1=value1", "service", "", "", "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"},
		"get-unreserved":                   {"GET", "https://example.amazonaws.com/-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", "service", "", "", "07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f"},
		"post-vanilla":                     {"POST", "https://example.amazonaws.com/", "service", "", "", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"},
		"the example of the description":   {"GET", "https://iam.amazonaws.com/?Action=ListUsers&Version=2010-05-08", "iam", form + "; charset=utf-8", "", "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7"},
	} {
		t.Run(name, func(t *testing.T) {
			req, err := http.NewRequestWithContext(t.Context(), c.method, c.url, strings.NewReader(c.body))
			if err != nil {
				t.Fatal(err)
			}
			if c.kind != "" {
				req.Header.Set("Content-Type", c.kind)
			}
			if err := signAWS(t.Context(), keys, req, []byte(c.body), c.service, "us-east-1", at); err != nil {
				t.Fatal(err)
			}
			auth := req.Header.Get("Authorization")
			_, got, _ := strings.Cut(auth, "Signature=")
			_, list, _ := strings.Cut(auth, "SignedHeaders=")
			list, _, _ = strings.Cut(list, ",")
			req.Host = req.URL.Host
			theirs := cloudtest.Account{ID: keys.id, Secret: keys.secret, Region: "us-east-1", Service: c.service}.Signature(req, []byte(c.body), strings.Split(list, ";"))
			if got != c.want || theirs != c.want {
				t.Errorf("signed by %q: %s, the server's %s, want %s", list, got, theirs, c.want)
			}
		})
	}
}

// A session token is signed as the tests say that come with AWS's own library.
func TestASessionTokenIsSignedAsTheLibraryPublishesIt(t *testing.T) {
	const (
		body = "{}"
		want = "AWS4-HMAC-SHA256 Credential=AKID/19700101/us-east-1/dynamodb/aws4_request, SignedHeaders=content-length;content-type;host;x-amz-date;x-amz-meta-other-header;x-amz-meta-other-header_with_underscore;x-amz-security-token;x-amz-target, Signature=a518299330494908a70222cec6899f6f32f297f8595f6df1776d998936652ad9"
	)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://dynamodb.us-east-1.amazonaws.com", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.URL.Opaque = "//example.org/bucket/key-._~,!@#$%^&*()"
	req.Header.Set("X-Amz-Target", "prefix.Operation")
	req.Header.Set("Content-Type", "application/x-amz-json-1.0")
	req.Header.Set("X-Amz-Meta-Other-Header", "some-value=!@#$%^&* (+)")
	req.Header.Add("X-Amz-Meta-Other-Header_With_Underscore", "some-value=!@#$%^&* (+)")
	req.Header.Add("X-Amz-Meta-Other-Header_With_Underscore", "some-value=!@#$%^&* (+)")
	if err := signAWS(t.Context(), awsKeys{id: "AKID", secret: "SECRET", token: "SESSION"}, req, []byte(body), "dynamodb", "us-east-1", time.Unix(0, 0)); err != nil {
		t.Fatal(err)
	}
	if got := req.Header.Get("Authorization"); got != want || req.Header.Get("X-Amz-Security-Token") != "SESSION" {
		t.Errorf("signed %q, want %q", got, want)
	}
}
