package auth

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
)

// demand determines what a sign-in needs. A grant that needs no person is carried out.
func (s *Session) demand(ctx context.Context, ch challenge, hadToken bool) (again bool, err error) {
	need, err := s.k.need(ctx, s.server, ch, s.rec, ch.stepUp() && hadToken)
	if err != nil {
		return false, err
	}
	if need.Why == nil && (need.StepUp || !hadToken) {
		s.challenged(ctx, need, ch.scopes)
	}
	own := s.k.personless(s.server)
	switch {
	case need.Why != nil:
		return false, need
	case s.server.Settings.Grant == GrantEnterprise:
		own = s.k.enterpriseToken
	case own == nil:
		return false, need
	}
	if s.accepted.Swap(false) {
		clear(s.asked)
	}
	rights := strings.Join(need.Scopes, " ")
	if hadToken && s.asked[rights] {
		need.Why = errors.New("the authorization server's token was refused")
		return false, need
	}
	s.asked[rights] = true
	rec, err := s.k.askFor(ctx, s.server, need, own)
	if err == nil {
		s.rec = rec
		return true, nil
	}
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	if atProvider, ok := errors.AsType[*NeedsSignIn](err); ok {
		return false, atProvider
	}
	if _, ok := errors.AsType[*Unavailable](err); ok {
		delete(s.asked, rights)
		return false, err
	}
	need.Why = err
	return false, need
}

// challengedLimit is how many scopes a server can have requested beyond those of its sign-in.
const challengedLimit = 64

// challenged stores the scopes that a request needed, for the next sign-in in whatever process: not
// every request is refused, so that a sign-in may not see them again. The caller holds mu.
func (s *Session) challenged(ctx context.Context, need *NeedsSignIn, scopes []string) {
	after := func(rec record) record {
		issuer, signedIn := need.found.server.Issuer, rec.Access != "" || rec.Refresh != ""
		switch {
		case rec.Issuer == issuer && signedIn:
			rec.Challenged = union(rec.Challenged, scopes)
		case rec.Issuer == issuer:
			rec.Challenged = scopes
		case !signedIn:
			rec = record{Server: s.server.URL, Issuer: issuer, Challenged: scopes}
		}
		return rec
	}
	now := after(s.rec)
	if len(scopes) == 0 || slices.Equal(now.Challenged, s.rec.Challenged) || len(now.Challenged) > challengedLimit {
		return
	}
	need.challenged = now.Challenged
	unlock, err := s.k.lock(ctx)
	if err != nil {
		return // the refused request has an error of its own
	}
	defer unlock()
	if rec, err := s.k.open().get(s.server.key()); err == nil && s.k.open().put(s.server.key(), after(rec)) == nil {
		s.rec = after(rec)
	}
}

// need returns what a sign-in to a server needs. stepUp says that the token that is stored has too few
// scopes.
func (k *Keeper) need(ctx context.Context, s Server, ch challenge, kept record, stepUp bool) (*NeedsSignIn, error) {
	out := &NeedsSignIn{Server: s.Name, Address: s.URL, StepUp: stepUp, Interrupted: kept.Interrupted, since: kept.Since}
	var err error
	if out.found, err = discover(ctx, k.client(s.URL), s.URL, ch); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if passes(err) {
			return nil, unavailable("find out how to sign in to "+hostOf(s.URL), err)
		}
		out.Why = err
		return out, nil
	}
	meta := out.found.server
	out.Host = cmp.Or(hostOf(meta.AuthorizationEndpoint), hostOf(meta.Issuer))
	switch {
	case len(s.Settings.Scopes) > 0:
		out.Scopes = slices.Clone(s.Settings.Scopes)
	case len(ch.scopes) > 0:
		out.Scopes = ch.scopes
	case kept.Issuer != meta.Issuer || len(kept.Challenged) == 0:
		out.Scopes = slices.Clone(out.found.scopes)
	}
	if kept.Issuer == meta.Issuer { // another authorization server has scopes of its own
		if stepUp {
			out.Scopes = union(kept.Scopes, out.Scopes)
		}
		out.challenged = kept.Challenged
		out.Scopes = union(out.Scopes, kept.Challenged)
	}
	if stepUp {
		out.Scopes = union(out.Scopes, ch.scopes)
	}
	if (s.Settings.Grant == "" || s.Settings.Grant == GrantCode) && slices.Contains(meta.ScopesSupported, "offline_access") {
		out.Scopes = union(out.Scopes, []string{"offline_access"})
	}
	return out, nil
}

func hostOf(address string) string {
	if u, err := url.Parse(address); err == nil {
		return u.Host
	}
	return ""
}
