package auth

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// Keeper stores the sign-ins of this machine's person and renews their tokens. It is safe for
// concurrent use.
type Keeper struct {
	dir    string
	getenv func(string) string
	now    func() time.Time
	client func(server string) *http.Client
	// lookEvery is the interval at which a waiting sign-in checks whether another process has
	// finished one.
	lookEvery time.Duration
	// pause is the time before a token endpoint that can't answer is asked again.
	pause time.Duration
	peers peers

	once  sync.Once
	store store
}

// NewKeeper returns a keeper whose files are in dir, jcode's config folder. It opens nothing
// before it is needed.
func NewKeeper(dir string) *Keeper {
	return &Keeper{dir: dir, getenv: os.Getenv, now: time.Now, client: throughProxy, lookEvery: lookEvery, pause: askPause}
}

// throughProxy returns the client for a server, which uses the proxy of the environment.
func throughProxy(server string) *http.Client { return httpClient(server, http.ProxyFromEnvironment) }

func (k *Keeper) open() store {
	k.once.Do(func() {
		if k.store == nil {
			k.store = openStore(k.dir, k.getenv)
		}
	})
	return k.store
}

// Where describes where tokens are stored, for people.
func (k *Keeper) Where() string { return k.open().where() }

// Has reports whether there is a usable sign-in to a server.
func (k *Keeper) Has(s Server) bool {
	r, err := k.open().get(s.key())
	return err == nil && (r.renewable() || r.fresh(k.now()))
}

// Forget deletes the sign-in to a server and the one to its identity provider, and reports
// whether there was one. The tokens are made invalid where the authorization server can do that.
func (k *Keeper) Forget(ctx context.Context, s Server) (bool, error) {
	servers := []Server{s}
	if p := s.Settings.IDP; p.Issuer != "" {
		servers = append(servers, Server{URL: p.Issuer, idp: true, Settings: Settings{ClientID: p.ClientID, ClientSecret: p.ClientSecret}})
	}
	dropped := make([]record, len(servers))
	failed := k.dropAll(ctx, servers, dropped)
	had := false
	for i, r := range dropped {
		if r.Access != "" || r.Refresh != "" {
			had = true
			k.revoke(ctx, servers[i], r)
		}
	}
	return had, failed
}

// dropAll removes the records of servers and returns those that there were in dropped.
func (k *Keeper) dropAll(ctx context.Context, servers []Server, dropped []record) error {
	unlock, err := k.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	var failed error
	for i, s := range servers {
		r, err := k.open().get(s.key())
		if err == nil && r.Server != "" || errors.Is(err, errDamaged) {
			dropped[i] = r
			err = k.open().drop(s.key())
		}
		failed = cmp.Or(failed, err)
	}
	return failed
}

// revokePatience is the time that an authorization server has to revoke a token.
const revokePatience = 5 * time.Second

// revoke makes the tokens of a record invalid. Whether that succeeds changes nothing here: they are deleted, and end
// by themselves.
func (k *Keeper) revoke(ctx context.Context, s Server, r record) {
	if r.Revoke == "" {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, revokePatience)
	defer cancel()
	form := url.Values{"token": {r.Access}, "token_type_hint": {"access_token"}}
	if r.Refresh != "" { // which ends the access token too
		form = url.Values{"token": {r.Refresh}, "token_type_hint": {"refresh_token"}}
	}
	_, _ = k.post(ctx, s.URL, r.Revoke, proofOf(r.Client, s.Settings, r.Issuer), form) // see above
}

// kept returns the stored sign-in to a server. If it can't be read there is none: a person may always sign in
// anew.
func (k *Keeper) kept(key string) (record, error) {
	rec, err := k.open().get(key)
	if _, locked := errors.AsType[*KeyringError](err); locked || errors.Is(err, errDamaged) {
		return record{}, nil
	}
	return rec, err
}

// For returns the session for one connection to a server.
func (k *Keeper) For(s Server) *Session {
	return &Session{k: k, server: s, asked: map[string]bool{}}
}

// Session is one connection's use of a sign-in. It is safe for concurrent use.
type Session struct {
	k      *Keeper
	server Server

	mu     sync.Mutex
	loaded bool
	rec    record
	// asked are the scopes that were already requested, so that a server that refuses them
	// all the same doesn't cause one sign-in after the other.
	asked map[string]bool
	// accepted says that the server has accepted a token since.
	accepted atomic.Bool
	// retry is when a renewal that failed before the token's end is tried again.
	retry time.Time
}

const (
	// renewPatience is how long a request waits for a renewal of a token that is still valid.
	renewPatience = 5 * time.Second
	// renewPause is the time until the next attempt after such a renewal failed.
	renewPause = 20 * time.Second
)

// current makes rec the sign-in to use now. A token that expires soon is renewed first; if that
// fails, the old one stays and the server decides. The caller holds mu.
func (s *Session) current(ctx context.Context) error {
	err := s.load()
	if _, locked := errors.AsType[*KeyringError](err); locked {
		return nil // a server that needs no sign-in works without; Challenge says it for the others
	}
	now := s.k.now()
	if err != nil || s.rec.fresh(now) || !s.rec.renewable() || now.Before(s.retry) {
		return err
	}
	limited, cancel := ctx, context.CancelFunc(func() {})
	if now.Before(s.rec.Expires) {
		limited, cancel = context.WithTimeout(ctx, renewPatience)
	}
	err = s.renew(limited, s.rec.Access)
	cancel()
	if ctx.Err() != nil && err != nil {
		return ctx.Err()
	}
	if err != nil {
		s.retry = now.Add(renewPause)
	}
	return nil
}

// Secrets returns the values that must never be shown.
func (s *Session) Secrets() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return nonEmpty(append(s.server.Settings.Secrets(), s.rec.Access, s.rec.Refresh, s.rec.Client.Secret))
}

// load reads the stored record, once. The caller holds mu.
func (s *Session) load() error {
	if s.loaded {
		return nil
	}
	return s.reload()
}

func (s *Session) reload() error {
	rec, err := s.k.open().get(s.server.key())
	if err == nil {
		s.rec, s.loaded = rec, true
	}
	return err
}

// Challenge handles a refused request that was sent with a token ("" for none). It returns true
// if the request should be sent again, and a *NeedsSignIn error if a person has to sign in first.
// For a refusal that is unrelated to signing in it returns neither.
func (s *Session) Challenge(ctx context.Context, resp *http.Response, sent string) (again bool, err error) {
	ch := readChallenge(resp.Header)
	refused := resp.StatusCode == http.StatusUnauthorized
	switch {
	case !refused && (resp.StatusCode != http.StatusForbidden || !ch.stepUp()):
		return false, nil
	case refused && s.k.peers.outdated(resp.Request):
		return true, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.reload(); err != nil {
		return false, err
	}
	if s.rec.Access != "" && s.rec.Access != sent {
		return true, nil // renewed in the meantime
	}
	if !ch.stepUp() && s.rec.renewable() && sent != "" {
		err := s.renew(ctx, sent)
		if err == nil {
			return true, nil
		}
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		if refusal, ok := errors.AsType[*refusedError](err); (!ok || passes(refusal)) && !errors.Is(err, errNotRenewable) {
			return false, unavailable("renew the token at "+hostOf(s.rec.TokenEndpoint), err)
		}
		if err := s.reload(); err != nil {
			return false, err
		}
	}
	return s.demand(ctx, ch, sent != "")
}

// detached runs f to its end even if ctx ends earlier, so that the server's answer is stored. It
// returns when f or ctx ends.
func detached(ctx context.Context, f func(context.Context) (record, error)) (record, error) {
	type outcome struct {
		rec record
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), requestLimit+lockWait)
		defer cancel()
		rec, err := f(limited)
		done <- outcome{rec, err}
	}()
	select {
	case o := <-done:
		return o.rec, o.err
	case <-ctx.Done():
		return record{}, ctx.Err()
	}
}

// renew gets a new access token to replace used, once for all processes: a second process finds
// the token of the first. Tokens that could not be stored are used by this session all the same.
// The caller holds mu.
func (s *Session) renew(ctx context.Context, used string) error {
	rec, err := detached(ctx, func(ctx context.Context) (record, error) { return s.k.refresh(ctx, s.server, used) })
	if unkept, ok := errors.AsType[*notKept](err); ok {
		rec, err = unkept.rec, nil
	}
	if err == nil {
		s.rec = rec
	}
	return err
}

// errNotRenewable says that a person has to sign in to get another token.
var errNotRenewable = errors.New("there is nothing to renew")

// notKept reports that new tokens of a server could not be stored.
type notKept struct {
	rec record
	err error
}

func (e *notKept) Error() string { return "keep the new token: " + e.err.Error() }
func (e *notKept) Unwrap() error { return e.err }

func (k *Keeper) refresh(ctx context.Context, s Server, used string) (record, error) {
	unlock, err := k.lock(ctx)
	if err != nil {
		return record{}, err
	}
	defer unlock()
	rec, err := k.open().get(s.key())
	if err != nil {
		return record{}, err
	}
	if rec.Access != used && rec.fresh(k.now()) {
		return rec, nil
	}
	if !rec.renewable() {
		return record{}, errNotRenewable
	}
	interrupted := !rec.Renewing.IsZero() // the answer to an earlier renewal was not stored
	before := rec
	rec.Renewing = k.now()
	if err := k.open().put(s.key(), rec); err != nil {
		return record{}, err
	}
	form := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {rec.Refresh}, "resource": {rec.Resource}}
	proof := proofOf(rec.Client, s.Settings, rec.Issuer)
	if proof.bind, err = readBoundKey(rec.Key); err != nil {
		return record{}, err
	}
	got, err := k.ask(ctx, s.URL, rec.TokenEndpoint, proof, form)
	switch {
	case isRefusal(err, "invalid_grant", "invalid_client", "unauthorized_client", "invalid_scope", "invalid_request") || isUnknownClient(err):
		rec.Refused, rec.Interrupted, rec.Renewing = true, interrupted && isRefusal(err, "invalid_grant"), time.Time{}
		if isUnknownClient(err) && rec.Client.Redirect != "" {
			rec.Client = registered{} // the next sign-in registers again
		}
		return record{}, errors.Join(err, k.open().put(s.key(), rec))
	case err != nil && neverSent(err):
		return record{}, errors.Join(err, k.open().put(s.key(), before))
	case err != nil:
		return record{}, err // the server may have answered, so Renewing stays set
	}
	rec.take(got)
	if err := k.open().put(s.key(), rec); err != nil {
		return record{}, &notKept{rec, err}
	}
	return rec, nil
}

// take copies new tokens into a record. If there is no new refresh token, the old one stays.
func (r *record) take(t tokens) {
	r.Access, r.Bound, r.Issued, r.Expires = t.Access, t.Bound, t.Issued, t.Expires
	r.Refused, r.Renewing, r.Interrupted = false, time.Time{}, false
	if t.ID != "" {
		r.ID = t.ID
	}
	if t.Refresh != "" {
		r.Refresh = t.Refresh
	}
	if t.Scopes != nil {
		r.Scopes = t.Scopes
	}
}
