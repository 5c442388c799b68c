package mcptest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"slices"
	"strings"
	"time"
)

// proofs checks the proofs of tokens that are bound to a key (RFC 9449), without the library that
// makes them.
type proofs struct {
	seen  map[string]bool   // IDs of proofs
	bound map[string]string // token → thumbprint of its key
}

func newProofs() proofs { return proofs{map[string]bool{}, map[string]string{}} }

// aDay is how far the clock of a server with the mode "dpopclock" is ahead.
const aDay = 24 * time.Hour

// check returns the thumbprint of a proof's key, or why the proof is refused.
func (p proofs) check(w http.ResponseWriter, req *http.Request, mode, address, token string) (key, why string) {
	now := time.Now()
	if mode == "dpopclock" {
		now = now.Add(aDay)
		w.Header().Set("Date", now.UTC().Format(http.TimeFormat))
	}
	var head struct {
		Type string            `json:"typ"`
		Alg  string            `json:"alg"`
		Key  map[string]string `json:"jwk"`
	}
	var claims struct {
		ID      string `json:"jti"`
		Method  string `json:"htm"`
		Address string `json:"htu"`
		Issued  int64  `json:"iat"`
		Hash    string `json:"ath"`
		Nonce   string `json:"nonce"`
	}
	parts := strings.Split(req.Header.Get("DPoP"), ".")
	if len(parts) != 3 || !part(parts[0], &head) || !part(parts[1], &claims) || !signed(parts, head.Key) {
		return "", "invalid_dpop_proof"
	}
	sum := ""
	if token != "" {
		sum = hash(token)
	}
	age := now.Sub(time.Unix(claims.Issued, 0))
	if head.Type != "dpop+jwt" || head.Alg != "ES256" || head.Key["d"] != "" || claims.ID == "" || p.seen[claims.ID] || claims.Method != req.Method ||
		claims.Address != address || claims.Hash != sum || age.Abs() > 5*time.Minute {
		return "", "invalid_dpop_proof"
	}
	p.seen[claims.ID] = true
	if mode == "dpopnonce" { // one for each five proofs
		nonce := fmt.Sprint("nonce-", address, "-", len(p.seen)/5)
		w.Header().Set("DPoP-Nonce", nonce)
		if claims.Nonce != nonce {
			return "", "use_dpop_nonce"
		}
	}
	return hash(fmt.Sprintf(`{"crv":%q,"kty":%q,"x":%q,"y":%q}`, head.Key["crv"], head.Key["kty"], head.Key["x"], head.Key["y"])), ""
}

func part(text string, into any) bool {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	return err == nil && json.Unmarshal(raw, into) == nil
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// signed verifies the signature of a proof by the key in its head.
func signed(parts []string, jwk map[string]string) bool {
	sign, err := base64.RawURLEncoding.DecodeString(parts[2])
	x, errX := base64.RawURLEncoding.DecodeString(jwk["x"])
	y, errY := base64.RawURLEncoding.DecodeString(jwk["y"])
	if errors.Join(err, errX, errY) != nil || len(sign) != 64 {
		return false
	}
	key, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), slices.Concat([]byte{4}, x, y))
	if err != nil {
		return false
	}
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	return ecdsa.Verify(key, sum[:], new(big.Int).SetBytes(sign[:32]), new(big.Int).SetBytes(sign[32:]))
}

// unproven returns why a request to the MCP server is refused in the modes of bound tokens, "" if it is not.
func (s *OAuthServer) unproven(w http.ResponseWriter, req *http.Request) string {
	token, ok := strings.CutPrefix(req.Header.Get("Authorization"), "DPoP ")
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.access[token]; !ok || !known {
		return "invalid_token"
	}
	key, why := s.proofs.check(w, req, s.mode, s.URL+req.URL.Path, token)
	if why == "" && key != s.proofs.bound[token] {
		why = "invalid_token"
	}
	return why
}
