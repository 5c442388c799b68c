package auth

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// boundKey is the private key that a server's tokens are bound to. Each request with such a token has
// a proof that its sender has the key (RFC 9449).
type boundKey struct {
	key    crypto.Signer
	method jwt.SigningMethod
}

// newBoundKey makes a key for one of the signing algorithms that both servers accept. An empty list
// doesn't restrict them.
func newBoundKey(lists ...[]string) (boundKey, error) {
	accepted := func(alg string) bool {
		return !slices.ContainsFunc(lists, func(list []string) bool { return len(list) > 0 && !slices.Contains(list, alg) })
	}
	switch {
	case accepted(jwt.SigningMethodES256.Alg()):
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		return boundKey{key, jwt.SigningMethodES256}, err
	case accepted(jwt.SigningMethodES384.Alg()):
		key, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
		return boundKey{key, jwt.SigningMethodES384}, err
	case accepted(jwt.SigningMethodEdDSA.Alg()):
		_, key, err := ed25519.GenerateKey(rand.Reader)
		return boundKey{key, jwt.SigningMethodEdDSA}, err
	}
	return boundKey{}, fmt.Errorf("tokens that are bound to a key need one of the algorithms %s, which jcode doesn't have: it has ES256, ES384 and EdDSA",
		strings.Join(slices.Concat(lists...), ", "))
}

// readBoundKey decodes a stored key. It returns nil for none.
func readBoundKey(der []byte) (*boundKey, error) {
	if len(der) == 0 {
		return nil, nil //nolint:nilnil // documented above
	}
	any, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		return nil, fmt.Errorf("the stored key of the sign-in can't be read: %w", err)
	}
	key, method, err := signer(any)
	if err != nil {
		return nil, fmt.Errorf("the stored key of the sign-in %w", err)
	}
	return &boundKey{key, method}, nil
}

func (k boundKey) encode() ([]byte, error) { return x509.MarshalPKCS8PrivateKey(k.key) }

// public returns the public key as a JSON Web Key.
func (k boundKey) public() (map[string]string, error) {
	b64 := base64.RawURLEncoding.EncodeToString
	switch pub := k.key.Public().(type) {
	case *ecdsa.PublicKey:
		point, err := pub.Bytes() // 4, X, Y
		if err != nil {
			return nil, err
		}
		x, y := point[1:1+len(point)/2], point[1+len(point)/2:]
		return map[string]string{"kty": "EC", "crv": pub.Curve.Params().Name, "x": b64(x), "y": b64(y)}, nil
	case ed25519.PublicKey:
		return map[string]string{"kty": "OKP", "crv": "Ed25519", "x": b64(pub)}, nil
	}
	return nil, errors.New("the stored key of the sign-in is of another kind")
}

// thumbprint identifies the public key (RFC 7638).
func (k boundKey) thumbprint() (string, error) {
	jwk, err := k.public()
	if err != nil {
		return "", err
	}
	canonical, err := json.Marshal(jwk) // sorted by name, without blanks
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(canonical)
	return base64.RawURLEncoding.EncodeToString(sum[:]), nil
}

// proofClaims are the claims of a proof.
type proofClaims struct {
	jwt.RegisteredClaims
	Method  string `json:"htm"`
	Address string `json:"htu"`
	Hash    string `json:"ath,omitempty"`
	Nonce   string `json:"nonce,omitempty"`
}

// prove adds a fresh proof to a request. token is the access token that it sends, "" at a token endpoint.
func (k boundKey) prove(req *http.Request, token string, peer peer) error {
	jwk, err := k.public()
	if err != nil {
		return err
	}
	c := proofClaims{
		RegisteredClaims: jwt.RegisteredClaims{ID: randomText(), IssuedAt: jwt.NewNumericDate(time.Now().Add(peer.ahead))},
		Method:           req.Method, Address: withoutQuery(req.URL), Nonce: peer.nonce,
	}
	if token != "" {
		sum := sha256.Sum256([]byte(token))
		c.Hash = base64.RawURLEncoding.EncodeToString(sum[:])
	}
	t := jwt.NewWithClaims(k.method, c)
	t.Header["typ"], t.Header["jwk"] = "dpop+jwt", jwk
	signed, err := t.SignedString(k.key)
	if err != nil {
		return fmt.Errorf("sign the proof of the token's key: %w", err)
	}
	req.Header.Set("DPoP", signed)
	return nil
}

func withoutQuery(u *url.URL) string {
	plain := *u
	plain.RawQuery, plain.Fragment, plain.RawFragment, plain.User, plain.ForceQuery = "", "", "", nil, false
	return plain.String()
}

// peer is what a server has said that proofs for it need.
type peer struct {
	nonce string
	ahead time.Duration // how far its clock is ahead of ours, if that is far
}

// clockTolerance is a difference of clocks that servers accept.
const clockTolerance = 20 * time.Second

// peers are the servers by origin.
type peers struct {
	mu sync.Mutex
	by map[string]peer
}

func (p *peers) of(u *url.URL) peer {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.by[origin(u)]
}

// heard reads what a response says about proofs.
func (p *peers) heard(u *url.URL, h http.Header) {
	p.mu.Lock()
	defer p.mu.Unlock()
	known := p.by[origin(u)]
	if nonce := h.Get("DPoP-Nonce"); nonce != "" {
		known.nonce = nonce
	}
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		known.ahead = 0
		if d := time.Until(date); d.Abs() > clockTolerance {
			known.ahead = d
		}
	}
	if p.by == nil {
		p.by = map[string]peer{}
	}
	p.by[origin(u)] = known
}

// outdated reports whether a refused request had a proof that lacks what its server has said since.
func (p *peers) outdated(req *http.Request) bool {
	if req == nil || req.Header.Get("DPoP") == "" {
		return false
	}
	var sent proofClaims
	if _, _, err := jwt.NewParser().ParseUnverified(req.Header.Get("DPoP"), &sent); err != nil || sent.IssuedAt == nil {
		return false
	}
	now := p.of(req.URL)
	off := time.Until(sent.IssuedAt.Time) - now.ahead
	return sent.Nonce != now.nonce || off.Abs() > clockTolerance
}

func origin(u *url.URL) string { return strings.ToLower(u.Scheme + "://" + u.Host) }

// bind returns the key for new tokens of a server, nil if its tokens are not bound. A key that is
// stored with the same authorization server is used again.
func (f found) bind(kept record) (*boundKey, error) {
	if !f.bound {
		return nil, nil //nolint:nilnil // documented above
	}
	if kept.Issuer == f.server.Issuer {
		if key, err := readBoundKey(kept.Key); err == nil && key != nil {
			return key, nil
		}
	}
	key, err := newBoundKey(f.server.DPoPAlgs, f.algs)
	return &key, err
}

// Authorize adds the sign-in's access token to a request for the server, and a proof if the token is
// bound to a key. It returns the token, "" if there is none. A token that expires soon is renewed first;
// if that fails, the old one is sent and the server decides.
func (s *Session) Authorize(ctx context.Context, req *http.Request) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.current(ctx); err != nil {
		return "", err
	}
	token := s.rec.Access
	if token == "" {
		return "", nil
	}
	if !s.rec.Bound {
		req.Header.Set("Authorization", "Bearer "+token)
		return token, nil
	}
	key, err := readBoundKey(s.rec.Key)
	if err != nil || key == nil {
		return "", errors.Join(err, errors.New("sign in again"))
	}
	req.Header.Set("Authorization", "DPoP "+token)
	return token, key.prove(req, token, s.k.peers.of(req.URL))
}

// Heard reads what a response to a request of Authorize says about the requests that follow.
func (s *Session) Heard(req *http.Request, resp *http.Response) {
	s.k.peers.heard(req.URL, resp.Header)
	refused := resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden || resp.StatusCode >= 500
	if !refused && req.Header.Get("Authorization") != "" {
		s.accepted.Store(true)
	}
}
