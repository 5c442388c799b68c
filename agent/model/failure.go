package model

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// failure is one failed attempt.
type failure struct {
	err   *Error
	retry bool
	most  int           // attempts that are worth it
	wait  time.Duration // what the server asks for
	fault fault
	used  Usage // what the provider counted of the attempt
	bad   bool  // the request was refused as such: another form of it may pass
}

func fail(class ErrorClass, status int, text string, cause error) *failure {
	return &failure{most: 1 << 30, err: &Error{Class: class, Status: status, Text: text, ToolIndex: -1, Err: cause}}
}

// judge says what became of an attempt that did not end well. The status decides before
// the words: a 429 that speaks of tokens is no overflow.
func (c *OpenAI) judge(ctx context.Context, x *exchange, cause error) *failure {
	switch {
	case x.webPage:
		return fail(ClassRequest, 0, fmt.Sprintf("%s answered with %s instead of the API: is the base URL right (it usually ends in /v1)?", c.cfg.Address(), plainText(string(x.refusal))), nil)
	case x.status != 0:
		return c.refusal(x)
	case x.fault != nil:
		return c.faulted(*x.fault, x.asked)
	case brokenFinish(x.finish):
		f := fail(ClassServer, 0, fmt.Sprintf("%s broke its answer off (%s)", c.name(), x.finish), nil)
		f.retry = true
		return f
	case errors.Is(context.Cause(ctx), errIdle):
		c.transport.conns.renew()
		f := fail(ClassNetwork, 0, fmt.Sprintf("%s was silent for too long", c.name()), errIdle)
		f.retry = true
		return f
	}
	return c.broken(x, cause)
}

// broken is a connection that could not be made or did not last.
func (c *OpenAI) broken(x *exchange, cause error) *failure {
	c.transport.conns.renew() // whatever broke, the next attempt has a connection of its own
	var dns *net.DNSError
	var cert *tls.CertificateVerificationError
	var text string
	retry, most := true, 1<<30
	switch {
	case errors.As(cause, &cert):
		retry = false
		text = fmt.Sprintf("the certificate of %s is not trusted: %s. If a company's proxy or server signs it, set SSL_CERT_FILE or NODE_EXTRA_CA_CERTS to a PEM file with its root certificate%s",
			c.cfg.Address(), cut(cert.Err.Error(), 200), c.rootsFault())
	case isProxyFault(cause):
		text = c.proxyFault(cause)
		most = unreachableTries
	case errors.Is(cause, syscall.ECONNREFUSED):
		text = fmt.Sprintf("nobody listens at %s: start the server or correct the base URL", c.cfg.Address())
		most = unreachableTries
	case errors.As(cause, &dns) && dns.IsNotFound:
		text = fmt.Sprintf("the host of %s is unknown: correct the base URL or check the network", c.cfg.Address())
		most = unreachableTries
	case errors.Is(cause, errTooLarge):
		retry = false
		text = fmt.Sprintf("%s sent more than jcode takes (%d MB)", c.name(), maxAnswer>>20)
	case x.chunks == 0 && x.rubbish != "":
		text = fmt.Sprintf("%s sent something that is no answer: %s", c.name(), cut(x.rubbish, maxRubbish))
	case cause == nil, errors.Is(cause, io.EOF), errors.Is(cause, io.ErrUnexpectedEOF):
		text = fmt.Sprintf("the answer of %s was cut off", c.name())
	default:
		text = fmt.Sprintf("the connection to %s broke: %s", c.name(), c.redact(rootCause(cause).Error()))
	}
	f := fail(ClassNetwork, 0, text, cause)
	f.retry, f.most = retry, most
	return f
}

// unreachableTries is how often a server that is not there is looked for: it may be about
// to start, but a wrong address should be said soon.
const unreachableTries = 4

// rootCause leaves out the URL that net/http puts before an error.
func rootCause(err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		return op
	}
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}

// refusal judges an HTTP error status.
func (c *OpenAI) refusal(x *exchange) *failure {
	flt := readFault(x.refusal)
	f := c.byStatus(x.status, flt, x.asked)
	if where := x.header.Get("Location"); x.status < 400 && where != "" {
		f.err.Text = fmt.Sprintf("%s has moved to %s: set that as base URL", c.cfg.Address(), cut(c.redact(where), 200))
	}
	if f.retry {
		f.wait = max(retryAfter(x.header, time.Now()), flt.delay)
		if f.wait == 0 && x.status == http.StatusTooManyRequests {
			f.wait = limitReset(x.header, flt, time.Now())
		}
	}
	return f
}

// faulted judges an error object inside a stream: its own status if it names one, else
// its code and type.
func (c *OpenAI) faulted(flt fault, model string) *failure {
	status := flt.status
	if status == 0 {
		switch kind := strings.ToLower(flt.kind + " " + flt.code); {
		case containsAny(kind, []string{"invalid_request", "bad_request", "context_length", "exceed_context"}):
			status = http.StatusBadRequest
		case containsAny(kind, []string{"authentication", "invalid_api_key", "permission"}):
			status = http.StatusUnauthorized
		case isQuota(flt):
			status = http.StatusPaymentRequired
		default:
			status = http.StatusInternalServerError // overloaded, rate limited, anything that may pass
		}
	}
	f := c.byStatus(status, flt, model)
	f.err.Status = flt.status
	return f
}

func (c *OpenAI) byStatus(status int, flt fault, model string) *failure {
	said := cut(c.redact(flt.message), 500)
	if said == "" {
		said = statusWords(status)
	}
	text := c.name() + ": " + said
	f := c.classify(status, flt, text, model)
	f.fault = flt
	return f
}

// classify decides the class of a refusal: what its words say for certain first, then the
// status, then words that only count under a status that says little.
func (c *OpenAI) classify(status int, flt fault, text, model string) *failure {
	const credit = "; check the account's credit, or choose another model"
	switch {
	case status == http.StatusPaymentRequired, isQuota(flt):
		return fail(ClassCredit, status, text+credit, nil)
	case isSafety(flt):
		return fail(ClassRequest, status, text+"; the provider's safety check refused this request: say it otherwise, or choose another model", nil)
	case status == http.StatusUnauthorized, status == http.StatusForbidden, status < 500 && isKeyFault(flt):
		return fail(ClassAuth, status, text+c.keyHint(), nil)
	case status == http.StatusProxyAuthRequired:
		return fail(ClassNetwork, status, c.proxyRefused(), nil)
	case status == http.StatusRequestEntityTooLarge:
		return fail(ClassOverflow, status, text, nil)
	case isTransient(status):
		f := fail(ClassServer, status, text, nil)
		f.retry = true
		f.bad = status == http.StatusInternalServerError && // llama.cpp refuses so
			containsAny(strings.ToLower(flt.message), []string{"not supported", "jinja", "must alternate", "template"})
		return f
	case takesNoTools(flt):
		f := fail(ClassRequest, status, text+"; jcode works by tools: choose a model that takes them", nil)
		f.bad = true
		return f
	case isGone(flt):
		return fail(ClassRequest, status, text+"; the provider offers this model no longer: choose another", nil)
	case status == http.StatusNotFound:
		if model != "" && !strings.Contains(flt.message, model) {
			text += fmt.Sprintf(" (model %q)", model)
		}
		f := fail(ClassRequest, status, text+": check the model's ID and the base URL", nil)
		f.bad = true
		return f
	case isOverflow(flt):
		f := fail(ClassOverflow, status, text, nil)
		f.err.Window = windowIn(flt)
		return f
	case flt.code == "tool_use_failed": // the model wrote a call that the server could not read: another try may do
		f := fail(ClassRequest, status, text, nil)
		f.retry, f.most = true, unreadableTries
		return f
	}
	f := fail(ClassRequest, status, text, nil)
	f.bad = true
	return f
}

// statusWords says what a status means that comes without a word.
func statusWords(status int) string {
	switch {
	case status == 529:
		return "overloaded"
	case status >= 520 && status <= 527: // a proxy's own
		return "the server behind its proxy did not answer"
	}
	return cmp.Or(http.StatusText(status), "an error without a word")
}

// unreadableTries is how often a model may write a call that its own server can't read.
const unreadableTries = 3

func (c *OpenAI) keyHint() string {
	switch {
	case c.cfg.Key == "" && c.cfg.KeyEnv != "":
		return "; no key is set: set " + c.cfg.KeyEnv
	case c.cfg.KeyEnv != "":
		return "; check the key in " + c.cfg.KeyEnv + " or the stored one"
	}
	return "; check the key"
}

// isTransient knows the statuses after which the same request may pass.
func isTransient(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly, http.StatusTooManyRequests:
		return true
	case http.StatusNotImplemented, http.StatusHTTPVersionNotSupported:
		return false
	}
	return status >= 500
}

// toolIndex finds which tool a refusal names: tools[3], tools.3, function_declarations[3],
// or by the tool's name in quotes. -1 when it names none.
func toolIndex(f fault, tools []Tool) int {
	said := f.param + "\n" + f.message + "\n" + f.raw
	for _, word := range []string{"function_declarations", "tools"} {
		for rest := said; ; {
			_, after, ok := strings.Cut(rest, word)
			if !ok {
				break
			}
			if n, ok := leadingIndex(after); ok && n < len(tools) {
				return n
			}
			rest = after
		}
	}
	if !strings.Contains(strings.ToLower(said), "schema") && !strings.Contains(strings.ToLower(said), "function") {
		return -1
	}
	for i := range tools {
		if name := tools[i].Name; strings.Contains(said, "'"+name+"'") || strings.Contains(said, `"`+name+`"`) || strings.Contains(said, "`"+name+"`") {
			return i
		}
	}
	return -1
}

// leadingIndex reads [3] or .3 at the start of s.
func leadingIndex(s string) (int, bool) {
	if s == "" || s[0] != '[' && s[0] != '.' {
		return 0, false
	}
	digits := strings.TrimLeft(s[1:], "0123456789")
	n, err := strconv.Atoi(s[1 : len(s)-len(digits)])
	return n, err == nil
}

// name is how messages call the endpoint.
func (c *OpenAI) name() string {
	if c.cfg.Name != "" {
		return c.cfg.Name
	}
	return c.cfg.Address()
}

// redact takes the key, and what is in headers, out of a server's words.
func (c *OpenAI) redact(s string) string {
	if c.cfg.Key != "" {
		s = strings.ReplaceAll(s, string(c.cfg.Key), "[key]")
	}
	for _, v := range c.cfg.Headers {
		if len(v) >= 12 {
			s = strings.ReplaceAll(s, v, "[header]")
		}
	}
	return s
}
