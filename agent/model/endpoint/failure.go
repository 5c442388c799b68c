package endpoint

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

	"jcode/agent/model"
	"jcode/agent/model/credential"
)

// Failure is one failed attempt.
type Failure struct {
	Err   *model.Error
	Retry bool
	Most  int           // attempts that are worthwhile
	Wait  time.Duration // what the server asks for
	Fault Fault
	Used  model.Usage // what the provider counted for the attempt
	Bad   bool        // the request itself was refused: another form of it may pass
}

// Fail returns a failure that is not worth another attempt.
func Fail(class model.ErrorClass, status int, text string, cause error) *Failure {
	return &Failure{Most: 1 << 30, Err: &model.Error{Class: class, Status: status, Text: text, ToolIndex: -1, Err: cause}}
}

const classRequest = model.ClassRequest

// Judge classifies an attempt that did not end well. The status decides before the words: a 429 that mentions
// tokens is not an overflow.
func (e *Endpoint) Judge(ctx context.Context, x *Exchange, cause error) *Failure {
	switch {
	case x.webPage:
		return e.wrongAddress(x.refusal)
	case x.status != 0:
		return e.refusal(x)
	case x.fault != nil:
		return e.faulted(*x.fault, x.Asked)
	case BrokenFinish(x.Finish):
		f := Fail(model.ClassServer, 0, fmt.Sprintf("%s broke its answer off (%s)", e.Name(), x.Finish), nil)
		f.Retry = true
		return f
	case errors.Is(context.Cause(ctx), errIdle):
		e.conns.renew()
		f := Fail(model.ClassNetwork, 0, fmt.Sprintf("%s was silent for too long", e.Name()), errIdle)
		f.Retry = true
		return f
	}
	return e.broken(x, cause)
}

// broken returns the failure for a connection that could not be made or did not last.
func (e *Endpoint) broken(x *Exchange, cause error) *Failure {
	e.conns.renew() // whatever broke, the next attempt opens a new connection
	var dns *net.DNSError
	var cert *tls.CertificateVerificationError
	var text string
	var unauthorized *credential.Error
	retry, most := true, 1<<30
	switch {
	case errors.As(cause, &unauthorized):
		return Fail(model.ClassAuth, 0, e.Redact(unauthorized.Text), cause)
	case errors.As(cause, &cert):
		retry = false
		text = fmt.Sprintf("the certificate of %s is not trusted: %s. If a company's proxy or server signs it, set SSL_CERT_FILE or NODE_EXTRA_CA_CERTS to a PEM file with its root certificate%s",
			e.Config.Address(), cut(cert.Err.Error(), 200), e.rootsFault())
	case isProxyFault(cause):
		text = e.proxyFault(cause)
		most = unreachableTries
	case errors.Is(cause, syscall.ECONNREFUSED):
		text = fmt.Sprintf("nothing is listening at %s: start the server or correct the base URL", e.Config.Address())
		most = unreachableTries
	case errors.As(cause, &dns) && dns.IsNotFound:
		text = fmt.Sprintf("the host of %s is unknown: correct the base URL or check the network", e.Config.Address())
		most = unreachableTries
	case errors.Is(cause, ErrTooLarge):
		retry = false
		text = fmt.Sprintf("%s sent more than jcode takes (%d MB)", e.Name(), MaxAnswer>>20)
	case !x.Started && x.rubbish != "":
		text = fmt.Sprintf("jcode could not read the answer of %s: %s", e.Name(), cut(x.rubbish, maxRubbish))
	case cause == nil, errors.Is(cause, io.EOF), errors.Is(cause, io.ErrUnexpectedEOF):
		text = fmt.Sprintf("the answer of %s was cut off", e.Name())
	default:
		text = fmt.Sprintf("the connection to %s broke: %s", e.Name(), e.Redact(rootCause(cause).Error()))
	}
	f := Fail(model.ClassNetwork, 0, text, cause)
	f.Retry, f.Most = retry, most
	return f
}

// unreachableTries is how often an unreachable server is tried: it may be about to start, but a wrong address
// should be reported soon.
const unreachableTries = 4

// rootCause strips the URL that net/http puts before an error.
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

// refusal classifies an HTTP error status.
func (e *Endpoint) refusal(x *Exchange) *Failure {
	flt := ReadFault(x.refusal)
	f := e.byStatus(x.status, flt, x.Asked)
	if where := x.header.Get("Location"); x.status < 400 && where != "" {
		f.Err.Text = e.moved(where)
	}
	f.wait(x.header, x.status)
	if id := requestID(x.header, flt); id != "" {
		f.Err.Text += " (request ID " + id + ")"
	}
	return f
}

// faulted classifies an error object inside a stream: by its own status if it names one, otherwise by its
// code and type.
func (e *Endpoint) faulted(flt Fault, asked string) *Failure {
	status := flt.status
	if status == 0 {
		switch kind := strings.ToLower(flt.kind + " " + flt.code); {
		case ContainsAny(kind, []string{"invalid_request", "bad_request", "context_length", "exceed_context"}):
			status = http.StatusBadRequest
		case ContainsAny(kind, []string{"request_too_large"}):
			status = http.StatusRequestEntityTooLarge
		case ContainsAny(kind, []string{"authentication", "invalid_api_key", "permission"}):
			status = http.StatusUnauthorized
		case isQuota(flt):
			status = http.StatusPaymentRequired
		default:
			status = http.StatusInternalServerError // overloaded, rate limited, anything that may be temporary
		}
	}
	f := e.byStatus(status, flt, asked)
	f.Err.Status = flt.status
	f.wait(nil, status)
	if id := requestID(nil, flt); id != "" {
		f.Err.Text += " (request ID " + id + ")"
	}
	return f
}

// requestID returns the name under which a provider's support finds a request.
func requestID(header http.Header, flt Fault) string {
	id := cmp.Or(header.Get("Request-Id"), header.Get("X-Request-Id"), header.Get("X-Amzn-Requestid"), flt.request)
	return cut(strings.TrimSpace(id), 100)
}

// wait finds how long the server asks to wait, wherever it says so: in headers, in fields of the error, or in words.
func (f *Failure) wait(header http.Header, status int) {
	if !f.Retry {
		return
	}
	now := time.Now()
	f.Wait = max(retryAfter(header, now), f.Fault.delay)
	if f.Wait == 0 && (status == http.StatusTooManyRequests || header == nil) {
		f.Wait = limitReset(header, f.Fault, now)
	}
	if f.Wait == 0 {
		f.Wait = waitInWords(f.Fault)
	}
}

func (e *Endpoint) byStatus(status int, flt Fault, asked string) *Failure {
	said := cut(e.Redact(flt.message), 500)
	if said == "" {
		said = statusWords(status)
	}
	if !strings.HasSuffix(said, "..") {
		said = strings.TrimSuffix(said, ".") // advice may follow
	}
	text := e.Name() + ": " + said
	f := e.classify(status, flt, text, asked)
	f.Fault = flt
	return f
}

// classify decides the class of a refusal: first by unambiguous words, then by the status, then by words that
// only matter under a status that says little.
func (e *Endpoint) classify(status int, flt Fault, text, asked string) *Failure {
	const credit = "; check the account's credit, or choose another model"
	switch {
	case status == http.StatusPaymentRequired, isQuota(flt):
		return Fail(model.ClassCredit, status, text+credit, nil)
	case isSafety(flt):
		return Fail(model.ClassRequest, status, text+"; the provider's safety check refused this request: say it otherwise, or choose another model", nil)
	case status == http.StatusUnauthorized, status == http.StatusForbidden, status < 500 && isKeyFault(flt):
		return Fail(model.ClassAuth, status, text+e.keyHint(), nil)
	case status == http.StatusProxyAuthRequired:
		return Fail(model.ClassNetwork, status, e.proxyRefused(), nil)
	case status == http.StatusRequestEntityTooLarge:
		return Fail(model.ClassOverflow, status, text, nil)
	case isTransient(status):
		f := Fail(model.ClassServer, status, text, nil)
		f.Retry = true
		f.Bad = status == http.StatusInternalServerError && // llama.cpp refuses this way
			ContainsAny(strings.ToLower(flt.message), []string{"not supported", "jinja", "must alternate", "template"})
		return f
	case takesNoTools(flt):
		f := Fail(model.ClassRequest, status, text+"; jcode works by tools: choose a model that takes them", nil)
		f.Bad = true
		return f
	case isGone(flt):
		return Fail(model.ClassRequest, status, text+"; the provider offers this model no longer: choose another", nil)
	case status == http.StatusNotFound:
		if asked != "" && !strings.Contains(flt.message, asked) {
			text += fmt.Sprintf(" (model %q)", asked)
		}
		text += ": check the model's ID and the base URL"
		if !strings.Contains(strings.ToLower(flt.message), "model") {
			text += e.protocolHint()
		}
		f := Fail(model.ClassRequest, status, text, nil)
		f.Bad = true
		return f
	case isOverflow(flt):
		f := Fail(model.ClassOverflow, status, text, nil)
		f.Err.Window = windowIn(flt)
		return f
	case flt.code == "tool_use_failed": // the model wrote a call that the server could not read: another try may succeed
		f := Fail(model.ClassRequest, status, text, nil)
		f.Retry, f.Most = true, unreadableTries
		return f
	}
	f := Fail(model.ClassRequest, status, text, nil)
	f.Bad = true
	return f
}

// protocolHint says which protocol was used, as the end of a sentence.
func (e *Endpoint) protocolHint() string {
	if e.Config.Protocol == "" || e.Config.Name == "" {
		return ""
	}
	return fmt.Sprintf(", and the protocol: %q was spoken, providers.%s.protocol changes it", e.Config.Protocol, e.Config.Name)
}

// statusWords describes a status that comes without a message.
func statusWords(status int) string {
	switch {
	case status == 529:
		return "overloaded"
	case status >= 520 && status <= 527: // specific to a proxy
		return "the server behind its proxy did not answer"
	}
	return cmp.Or(http.StatusText(status), "an error without a message")
}

// unreadableTries is how often a model may write a call that its own server can't read.
const unreadableTries = 3

func (e *Endpoint) keyHint() string {
	switch {
	case e.source != nil && len(e.Config.KeyCommand) > 0:
		return "; check what providers." + e.Config.Name + ".key_command writes"
	case e.source != nil:
		return "; check the credentials and what they may do"
	case e.Config.Key == "" && e.Config.Token == "" && e.Config.KeyEnv != "":
		return "; no key is set: set " + e.Config.KeyEnv
	case e.Config.KeyEnv != "":
		return "; check the key in " + e.Config.KeyEnv + " or the stored one"
	}
	return "; check the key"
}

// isTransient recognises the statuses after which the same request may succeed.
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
func toolIndex(f Fault, tools []model.Tool) int {
	said := f.Whole()
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
