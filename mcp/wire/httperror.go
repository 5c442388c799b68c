package wire

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"jcode/internal/secret"
	"jcode/mcp/auth"
)

// HTTPError is an HTTP status other than success.
type HTTPError struct {
	Code  int
	text  string // "401 Unauthorized: token expired"
	retry Retry
	After time.Duration // Retry-After
}

func (e *HTTPError) Error() string { return e.text }

// networkError returns a short description of a failed request.
func networkError(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	retry := RetryLost
	if _, ok := errors.AsType[*auth.NeedsSignIn](err); ok {
		retry = RetryNever
	}
	if _, ok := errors.AsType[*auth.KeyringError](err); ok {
		retry = RetryNever
	}
	return &Fault{Text: err.Error(), Retry: retry, Err: err}
}

// statusError reads a status other than success, with the start of its body.
func (r *roundTripper) statusError(resp *http.Response, body string) *HTTPError {
	e := &HTTPError{Code: resp.StatusCode, text: fmt.Sprintf("%d %s", resp.StatusCode, http.StatusText(resp.StatusCode))}
	if body = strings.TrimSpace(body); body != "" {
		e.text += ": " + body
	}
	switch c := resp.StatusCode; {
	case c == http.StatusUnauthorized || c == http.StatusForbidden:
		e.text += " (" + credentialAdvice(resp.Request, r.auth != nil) + ")"
	case c == http.StatusRequestTimeout || c == http.StatusTooManyRequests || c >= 500:
		e.retry = RetryLost
		if e.After = retryAfter(resp.Header.Get("Retry-After")); e.After > 0 {
			e.text += fmt.Sprintf(" (try again in %.0f s)", math.Ceil(e.After.Seconds()))
		}
	}
	return e
}

// credentialAdvice says what to do about a refusal for lack of permissions. signs says that a sign-in
// sets the Authorization header.
func credentialAdvice(req *http.Request, signs bool) string {
	if req != nil {
		if signs && req.Header.Get("Authorization") != "" {
			return "the account that is signed in may not do this; sign in as another one with jcode mcp login"
		}
		if req.Header.Get("Authorization") != "" {
			return "the Authorization header that is set was refused"
		}
		for name := range req.Header {
			if n := strings.ReplaceAll(name, "-", "_"); secret.Name(n) {
				return "the header " + name + " that is set was refused"
			}
		}
	}
	return "set an Authorization header"
}

// longestRetryAfter bounds what a server may ask for.
const longestRetryAfter = 60 * time.Second

// retryAfter reads a Retry-After header: seconds or a date. It returns 0 for any other value.
func retryAfter(s string) time.Duration {
	var d time.Duration
	if t, err := http.ParseTime(s); err == nil {
		d = time.Until(t)
	} else if secs, err := strconv.ParseFloat(strings.TrimSpace(s), 64); err == nil && !math.IsNaN(secs) {
		d = time.Duration(min(max(secs, 0), longestRetryAfter.Seconds()) * float64(time.Second))
	}
	return min(max(d, 0), longestRetryAfter)
}
