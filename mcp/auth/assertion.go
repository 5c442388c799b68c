package auth

import (
	"cmp"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// assertionLife is how long a signed assertion is valid.
const assertionLife = 5 * time.Minute

const assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

// proof is how a client authenticates to a token endpoint (RFC 6749, RFC 7523). The key is never
// stored: it comes from the settings each time.
type proof struct {
	registered
	key      string // private key in PEM format, for private_key_jwt
	keyID    string
	audience string    // the issuer that an assertion is for
	bind     *boundKey // that the tokens are bound to; nil for none
}

// proofOf combines a stored client with the secrets of its settings.
func proofOf(client registered, s Settings, issuer string) proof {
	p := proof{registered: client, audience: issuer}
	if client.ID == s.ClientID && s.ClientID != "" {
		p.key, p.keyID, p.Secret = s.PrivateKey, s.KeyID, cmp.Or(p.Secret, s.ClientSecret)
	}
	return p
}

// sign adds a signed client assertion to a form.
func (p proof) sign(form url.Values, now time.Time) error {
	if p.key == "" {
		return errors.New("private_key_jwt needs oauth.private_key_env")
	}
	key, method, err := readKey(p.key)
	if err != nil {
		return fmt.Errorf("oauth.private_key_env: %w", err)
	}
	token := jwt.NewWithClaims(method, jwt.RegisteredClaims{
		Issuer: p.ID, Subject: p.ID, Audience: jwt.ClaimStrings{p.audience}, ID: randomText(),
		IssuedAt: jwt.NewNumericDate(now), ExpiresAt: jwt.NewNumericDate(now.Add(assertionLife)),
	})
	if p.keyID != "" {
		token.Header["kid"] = p.keyID
	}
	signed, err := token.SignedString(key)
	if err != nil {
		return fmt.Errorf("sign the assertion: %w", err)
	}
	form.Set("client_id", p.ID)
	form.Set("client_assertion_type", assertionType)
	form.Set("client_assertion", signed)
	return nil
}

// readKey parses a private key in PEM format and chooses the signing algorithm for its kind.
func readKey(text string) (crypto.Signer, jwt.SigningMethod, error) {
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return nil, nil, errors.New("contains no private key in PEM format")
	}
	var key any
	var err error
	switch block.Type {
	case "EC PRIVATE KEY":
		key, err = x509.ParseECPrivateKey(block.Bytes)
	case "RSA PRIVATE KEY":
		key, err = x509.ParsePKCS1PrivateKey(block.Bytes)
	default:
		key, err = x509.ParsePKCS8PrivateKey(block.Bytes)
	}
	if err != nil {
		return nil, nil, errors.New("contains no private key that can be read (PKCS #8, PKCS #1 or SEC 1, without a passphrase)")
	}
	return signer(key)
}

// signer returns a private key as a signer, with the signing algorithm for its kind.
func signer(key any) (crypto.Signer, jwt.SigningMethod, error) {
	switch k := key.(type) {
	case *rsa.PrivateKey:
		return k, jwt.SigningMethodRS256, nil
	case ed25519.PrivateKey:
		return k, jwt.SigningMethodEdDSA, nil
	case *ecdsa.PrivateKey:
		switch k.Curve.Params().BitSize {
		case 256:
			return k, jwt.SigningMethodES256, nil
		case 384:
			return k, jwt.SigningMethodES384, nil
		case 521:
			return k, jwt.SigningMethodES512, nil
		}
	}
	return nil, nil, errors.New("contains a kind of key that jcode can't sign with: use RSA, P-256, P-384, P-521 or Ed25519")
}
