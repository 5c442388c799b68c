package cloudtest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Account is whose signatures are good.
type Account struct {
	ID, Secret, Token string
	Region, Service   string
}

// timeForm is the form of times in signatures.
const timeForm = "20060102T150405Z"

// Signature returns the signature that a request with a body must have at its time, over the headers that are named,
// by AWS's Signature Version 4. It is written from the description, apart from any library.
func (a Account) Signature(r *http.Request, body []byte, signed []string) string {
	at := r.Header.Get("X-Amz-Date")
	sum := func(b []byte) string { h := sha256.Sum256(b); return hex.EncodeToString(h[:]) }
	var headers strings.Builder
	for _, name := range signed {
		value := strings.Join(r.Header.Values(name), ",")
		switch name {
		case "host":
			value = r.Host
		case "content-length":
			value = fmt.Sprint(r.ContentLength)
		}
		headers.WriteString(name + ":" + strings.Join(strings.Fields(value), " ") + "\n")
	}
	path := r.URL.EscapedPath()
	if path == "" {
		path = "/"
	}
	segments := strings.Split(path, "/")
	for i, s := range segments {
		segments[i] = encode(s) // what came encoded is encoded once more
	}
	canonical := strings.Join([]string{r.Method, strings.Join(segments, "/"), query(r.URL), headers.String(), strings.Join(signed, ";"), sum(body)}, "\n")
	day := at[:8]
	scope := strings.Join([]string{day, a.Region, a.Service, "aws4_request"}, "/")
	text := strings.Join([]string{"AWS4-HMAC-SHA256", at, scope, sum([]byte(canonical))}, "\n")
	key := []byte("AWS4" + a.Secret)
	for _, part := range []string{day, a.Region, a.Service, "aws4_request"} {
		key = mac(key, part)
	}
	return hex.EncodeToString(mac(key, text))
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

// encode encodes whatever is not unreserved.
func encode(s string) string {
	var out strings.Builder
	for i := range len(s) {
		c := s[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-._~", c) >= 0 {
			out.WriteByte(c)
		} else {
			fmt.Fprintf(&out, "%%%02X", c)
		}
	}
	return out.String()
}

func query(u *url.URL) string {
	var parts []string
	for name, values := range u.Query() {
		for _, v := range values {
			parts = append(parts, encode(name)+"="+encode(v))
		}
	}
	slices.Sort(parts)
	return strings.Join(parts, "&")
}

// check says what is wrong with the signature of a request, in AWS's words; "" for nothing.
func (a Account) check(r *http.Request, body []byte, now time.Time) (kind, message string) {
	const invalid = "InvalidSignatureException"
	scheme, rest, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	fields := map[string]string{}
	for _, part := range strings.Split(rest, ",") {
		k, v, _ := strings.Cut(strings.TrimSpace(part), "=")
		fields[k] = v
	}
	at, err := time.Parse(timeForm, r.Header.Get("X-Amz-Date"))
	if scheme != "AWS4-HMAC-SHA256" || err != nil {
		return "MissingAuthenticationTokenException", "Missing Authentication Token"
	}
	want := strings.Join([]string{a.ID, at.Format("20060102"), a.Region, a.Service, "aws4_request"}, "/")
	signed := strings.Split(fields["SignedHeaders"], ";")
	switch {
	case !strings.HasPrefix(fields["Credential"], a.ID+"/"):
		return "UnrecognizedClientException", "The security token included in the request is invalid."
	case fields["Credential"] != want:
		return invalid, "Credential should be scoped to a valid region and service: " + want
	case now.Sub(at) > 5*time.Minute:
		return invalid, fmt.Sprintf("Signature expired: %s is now earlier than %s (%s - 5 min.)", at.Format(timeForm), now.Add(-5*time.Minute).Format(timeForm), now.Format(timeForm))
	case at.Sub(now) > 5*time.Minute:
		return invalid, fmt.Sprintf("Signature not yet current: %s is still later than %s (%s + 5 min.)", at.Format(timeForm), now.Add(5*time.Minute).Format(timeForm), now.Format(timeForm))
	case !slices.IsSorted(signed) || !slices.Contains(signed, "host") || !slices.Contains(signed, "x-amz-date") || a.Token != "" && !slices.Contains(signed, "x-amz-security-token"):
		return invalid, "the signature must cover host, x-amz-date and x-amz-security-token: " + fields["SignedHeaders"]
	case r.Header.Get("X-Amz-Security-Token") != a.Token:
		return "UnrecognizedClientException", "The security token included in the request is invalid."
	case fields["Signature"] != a.Signature(r, body, signed):
		return invalid, "The request signature we calculated does not match the signature you provided."
	}
	return "", ""
}
