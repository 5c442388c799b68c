package auth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"jcode/internal/text"
)

// Visit describes a page that a person has to open to sign in.
type Visit struct {
	Server string   // name of the MCP server
	Host   string   // of the authorization server
	Scopes []string // that are requested
	StepUp bool
	URL    string // the page
}

// Person is the person who signs in. Visit shows where to go and opens the page if they agree. It
// returns what they paste from another machine, the last address of their browser or the code, or
// an error if they decline. It also returns when ctx ends, which means that the browser came
// back.
type Person interface {
	Visit(ctx context.Context, v Visit) (pasted string, err error)
}

// ErrDeclined says that the person declined to sign in.
var ErrDeclined = errors.New("the sign-in was cancelled")

const (
	// signInLimit is the time that a person has.
	signInLimit = 10 * time.Minute
	// lookEvery is the interval at which a sign-in checks whether another process has finished one.
	lookEvery = time.Second
)

// Look asks a server, without a token, what a sign-in needs. It returns a nil NeedsSignIn if the
// server answers without one.
func (k *Keeper) Look(ctx context.Context, s Server) (*NeedsSignIn, error) {
	body := `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"jcode","version":"1"}}}`
	ctx, cancel := context.WithTimeout(ctx, requestLimit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	resp, err := k.client(s.URL).Do(req)
	if err != nil {
		return nil, plain(err)
	}
	_ = resp.Body.Close() // only its headers are used
	k.peers.heard(req.URL, resp.Header)
	kept, err := k.kept(s.key())
	if err != nil {
		return nil, err
	}
	need, err := k.need(ctx, s, readChallenge(resp.Header), kept, kept.lacks())
	_, unsure := errors.AsType[*Unavailable](err)
	if err != nil && !unsure {
		return nil, err
	}
	if resp.StatusCode != http.StatusUnauthorized && resp.StatusCode != http.StatusForbidden && (unsure || !need.found.declared) {
		return nil, nil //nolint:nilnil // documented above
	}
	return need, err // some servers require a sign-in only later
}

// errMeanwhile says that the person has signed in elsewhere in the meantime.
var errMeanwhile = errors.New("signed in meanwhile")

// SignIn takes a person through a sign-in and stores the tokens. One sign-in serves everyone who
// asks for it, in every process: the other dialogs close when it succeeds. For a grant that needs no
// person, it gets a token without one.
func (k *Keeper) SignIn(ctx context.Context, s Server, need *NeedsSignIn, person Person) error {
	if need.Why != nil {
		return need.Why
	}
	if own := k.personless(s); own != nil {
		_, err := k.askFor(ctx, s, need, own)
		return err
	}
	if s.Settings.Grant == GrantEnterprise { // the person signs in to the provider, not to the server
		idp, meta, err := k.provider(ctx, s)
		if err != nil {
			return err
		}
		kept, err := k.kept(idp.key())
		if err != nil {
			return err
		}
		s, need = idp, providerSignIn(s, meta, kept)
	}
	if need.found.server.AuthorizationEndpoint == "" {
		return errors.New("the authorization server has no sign-in page")
	}
	ctx, cancel := context.WithTimeoutCause(ctx, signInLimit, errors.New("nobody signed in within "+signInLimit.String()))
	defer cancel()
	kept, err := k.kept(s.key())
	if err != nil {
		return err
	}
	if need.overtaken(kept, k.now()) {
		return nil
	}
	if kept.Issuer != need.found.server.Issuer {
		kept = record{} // another authorization server doesn't know that client
	}
	for again := false; ; again = true {
		f := flow{k: k, s: s, need: need, person: person}
		if f.bind, err = need.found.bind(kept); err != nil {
			return err
		}
		client, err := f.attempt(ctx, kept.Client)
		if err == nil || errors.Is(err, errMeanwhile) {
			return nil
		}
		if isRefusal(err, "invalid_scope") {
			k.unchallenge(ctx, s)
		}
		// If the server has forgotten the registration, register again, once.
		if again || client.Redirect == "" || client.ID != kept.Client.ID || !isUnknownClient(err) {
			return err
		}
		kept.Client = registered{}
	}
}

// overtaken reports whether somebody has signed in since.
func (e *NeedsSignIn) overtaken(kept record, now time.Time) bool {
	return !kept.Since.Equal(e.since) && kept.fresh(now)
}

// unchallenge forgets the scopes of earlier challenges: the authorization server does not know one of
// them.
func (k *Keeper) unchallenge(ctx context.Context, s Server) {
	unlock, err := k.lock(ctx)
	if err != nil {
		return // the next refusal gets here again
	}
	defer unlock()
	if rec, err := k.open().get(s.key()); err == nil && rec.Challenged != nil {
		rec.Challenged = nil
		_ = k.open().put(s.key(), rec) // as above
	}
}

// flow is one attempt to sign in.
type flow struct {
	k      *Keeper
	s      Server
	need   *NeedsSignIn
	person Person
	bind   *boundKey // for the tokens; nil for none
}

// attempt runs the flow and returns the client that it used.
func (f flow) attempt(ctx context.Context, known registered) (registered, error) {
	state, verifier := randomText(), randomText()
	back, redirect, err := listen(ctx, state, f.s.Settings.CallbackPort, known.Redirect)
	if err != nil {
		return registered{}, err
	}
	defer back.close()
	client, err := f.client(ctx, known, redirect)
	if err != nil {
		return registered{}, err
	}
	meta := f.need.found.server
	sum := sha256.Sum256([]byte(verifier))
	page, err := url.Parse(meta.AuthorizationEndpoint)
	if err != nil {
		return client, err
	}
	q := page.Query()
	for name, value := range map[string]string{
		"response_type": "code", "client_id": client.ID, "redirect_uri": redirect, "state": state,
		"code_challenge": base64.RawURLEncoding.EncodeToString(sum[:]), "code_challenge_method": "S256",
	} {
		q.Set(name, value)
	}
	if f.need.found.resource != "" {
		q.Set("resource", f.need.found.resource)
	}
	if f.bind != nil { // so that only the key's owner can use the code
		print, err := f.bind.thumbprint()
		if err != nil {
			return client, err
		}
		q.Set("dpop_jkt", print)
	}
	if len(f.need.Scopes) > 0 {
		q.Set("scope", strings.Join(f.need.Scopes, " "))
	}
	if slices.Contains(f.need.Scopes, "offline_access") {
		q.Set("prompt", "consent")
	}
	page.RawQuery = q.Encode()
	answer, err := f.visit(ctx, back, page.String(), state)
	if err != nil {
		return client, err
	}
	code, err := f.check(answer, state)
	if err != nil {
		return client, err
	}
	form := url.Values{
		"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {redirect}, "code_verifier": {verifier}, "resource": {f.need.found.resource},
	}
	_, err = detached(ctx, func(ctx context.Context) (record, error) { return f.exchange(ctx, client, form) })
	return client, err
}

// client returns the client to use at the authorization server: the one of the settings, the one
// of its metadata document, one that was registered earlier, or a new one.
func (f flow) client(ctx context.Context, known registered, redirect string) (registered, error) {
	set, meta := f.s.Settings, f.need.found.server
	switch {
	case set.ClientID != "":
		return registered{ID: set.ClientID, Secret: set.ClientSecret, Method: methodOf(set, set.ClientSecret, meta)}, nil
	case set.MetadataURL != "" && meta.ClientIDMetadataDocumentSupported:
		return registered{ID: set.MetadataURL, Method: methodNone}, nil
	case known.ID != "" && known.Redirect == redirect && (known.Expires.IsZero() || f.k.now().Before(known.Expires)):
		return known, nil
	}
	return register(ctx, f.k.client(f.s.URL), meta, redirect, f.need.Scopes)
}

// visit waits until the browser comes back, the person pastes an answer, or they sign in in
// another process.
func (f flow) visit(ctx context.Context, back *callback, page, state string) (url.Values, error) {
	asking, stop := context.WithCancel(ctx)
	defer stop()
	type said struct {
		pasted string
		err    error
	}
	person := make(chan said, 1)
	go func() {
		pasted, err := f.person.Visit(asking, Visit{Server: f.s.Name, Host: f.need.hosts(), Scopes: f.need.Scopes, StepUp: f.need.StepUp, URL: page})
		person <- said{pasted, err}
	}()
	look := time.NewTicker(f.k.lookEvery)
	defer look.Stop()
	for {
		select {
		case <-look.C:
			if kept, err := f.k.kept(f.s.key()); err == nil && f.need.overtaken(kept, f.k.now()) {
				stop()
				<-person // the dialog is closed
				return nil, errMeanwhile
			}
			continue
		case answer := <-back.answers:
			stop()
			<-person // the dialog is closed
			return answer, nil
		case p := <-person:
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			if p.err != nil {
				return nil, p.err
			}
			return readPasted(p.pasted, state)
		}
	}
}

// hosts names the host of the page, and those that the code goes to or that vouch for it, where they differ.
func (e *NeedsSignIn) hosts() string {
	meta := e.found.server
	var also []string
	if to := hostOf(meta.TokenEndpoint); to != "" && to != e.Host {
		also = append(also, "the answer goes to "+to)
	}
	if issuer := hostOf(meta.Issuer); issuer != "" && issuer != e.Host {
		also = append(also, "the issuer is "+issuer)
	}
	if len(also) == 0 {
		return e.Host
	}
	return e.Host + " (" + strings.Join(also, ", ") + ")"
}

// readPasted parses the last address of a browser on another machine, or a bare code.
func readPasted(pasted, state string) (url.Values, error) {
	pasted = strings.TrimSpace(pasted)
	if u, err := url.Parse(pasted); err == nil && u.Scheme != "" && u.RawQuery != "" {
		return u.Query(), nil
	}
	if strings.HasPrefix(pasted, "code=") || strings.Contains(pasted, "&code=") {
		return url.ParseQuery(strings.TrimPrefix(pasted, "?"))
	}
	if pasted == "" || strings.ContainsAny(pasted, " \t\n/?") {
		return nil, errors.New("what was pasted is neither an address with a code nor a code")
	}
	return url.Values{"code": {pasted}, "state": {state}}, nil // the person typed it in
}

// check returns the code of an answer, after checking that the answer belongs to this sign-in.
func (f flow) check(answer url.Values, state string) (string, error) {
	if subtle.ConstantTimeCompare([]byte(answer.Get("state")), []byte(state)) != 1 {
		return "", errors.New("the browser came back from another sign-in (the state differs): start again")
	}
	meta := f.need.found.server
	iss := answer.Get("iss")
	if iss == "" && meta.AuthorizationResponseIssParameterSupported {
		return "", errors.New("the authorization server did not identify itself (iss is missing)")
	}
	if iss != "" && iss != meta.Issuer {
		return "", fmt.Errorf("another authorization server answered: %q instead of %q", iss, meta.Issuer)
	}
	if code := answer.Get("error"); code != "" {
		return "", &refusedError{Code: text.Clean(code), Description: answer.Get("error_description")}
	}
	if code := answer.Get("code"); code != "" {
		return code, nil
	}
	return "", errors.New("the browser came back without a code")
}

// exchange exchanges a code for tokens and stores them.
func (f flow) exchange(ctx context.Context, client registered, form url.Values) (record, error) {
	meta := f.need.found.server
	proof := proofOf(client, f.s.Settings, meta.Issuer)
	proof.bind = f.bind
	got, err := f.k.ask(ctx, f.s.URL, meta.TokenEndpoint, proof, form)
	if err != nil {
		return record{}, fmt.Errorf("get a token: %w", err)
	}
	rec := f.need.record(f.s, client)
	if err := f.need.fill(&rec, got, f.bind); err != nil {
		return record{}, err
	}
	return rec, f.k.keep(ctx, f.s, rec)
}

func randomText() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}
