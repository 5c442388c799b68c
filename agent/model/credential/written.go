package credential

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"
)

// written is what a command wrote: a key, or credentials of AWS, and when they end.
type written struct {
	key  string
	aws  awsKeys
	ends time.Time // zero if that is not known
}

// awsKeys are credentials of AWS.
type awsKeys struct{ id, secret, token string }

func (w written) set() bool { return w.name() != "" }

// name is what distinguishes one from another.
func (w written) name() string {
	if w.key != "" {
		return w.key
	}
	return w.aws.id
}

func (w written) expired(now time.Time) bool {
	return !w.ends.IsZero() && !now.Add(early).Before(w.ends)
}

func (w written) secrets() (out []string) {
	for _, s := range []string{w.key, w.aws.secret, w.aws.token} {
		if s != "" {
			out = append(out, s)
		}
	}
	return out
}

// read understands what a command wrote: a key alone on its line, or the JSON of a token as gcloud, az, kubectl and
// OAuth servers write it, or that of credentials as AWS wants it of a process.
func read(out []byte, now time.Time) (written, error) {
	out = bytes.TrimSpace(out)
	switch {
	case len(out) == 0:
		return written{}, errors.New("wrote nothing: it must write the key")
	case out[0] == '{':
		return readJSON(out, now)
	}
	key, rest, more := strings.Cut(string(out), "\n")
	if key = strings.TrimSpace(key); more && strings.TrimSpace(rest) != "" || strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return written{}, errors.New("wrote more than a key: it must write the key alone, or JSON with access_token")
	}
	return written{key: key, ends: expOf(key)}, nil
}

func readJSON(out []byte, now time.Time) (written, error) {
	var v map[string]any
	if json.Unmarshal(out, &v) != nil {
		return written{}, errors.New("wrote JSON that cannot be read")
	}
	for _, inner := range []string{"status", "Credentials", "credential"} { // kubectl's, sts', gcloud's
		if m, ok := v[inner].(map[string]any); ok {
			v = m
		}
	}
	str := func(names ...string) string {
		for _, name := range names {
			if s, ok := v[name].(string); ok && s != "" {
				return strings.TrimSpace(s)
			}
		}
		return ""
	}
	w := written{aws: awsKeys{str("AccessKeyId"), str("SecretAccessKey"), str("SessionToken")}}
	if w.aws.id == "" || w.aws.secret == "" {
		w.aws = awsKeys{}
		w.key = str("access_token", "accessToken", "token", "key", "api_key", "id_token")
	}
	if !w.set() {
		return written{}, errors.New("wrote JSON without access_token")
	}
	w.ends = expOf(w.key)
	for _, name := range []string{"expires_in", "expiresIn"} {
		if s, ok := number(v[name]); ok {
			w.ends = now.Add(time.Duration(s) * time.Second)
		}
	}
	for _, name := range []string{"expires_on", "expires_at", "expiresAt"} { // seconds since 1970, by az
		if s, ok := number(v[name]); ok && s > 1e9 {
			w.ends = time.Unix(s, 0)
		}
	}
	for _, name := range []string{"Expiration", "expiration", "expirationTimestamp", "expiry", "expires_at", "token_expiry"} {
		if at, err := time.Parse(time.RFC3339, str(name)); err == nil {
			w.ends = at
		}
	}
	return w, nil
}

// number reads a JSON number, or a text with one.
func number(v any) (int64, bool) {
	switch v := v.(type) {
	case float64:
		return int64(v), v > 0 && v < 1e12
	case string:
		n, err := strconv.ParseInt(v, 10, 64)
		return n, err == nil && n > 0
	}
	return 0, false
}

// expOf returns when a JSON Web Token ends, zero for any other key.
func expOf(key string) time.Time {
	parts := strings.Split(key, ".")
	if len(parts) != 3 {
		return time.Time{}
	}
	raw, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[1], "="))
	var claims struct {
		Exp float64 `json:"exp"`
	}
	if err != nil || json.Unmarshal(raw, &claims) != nil || claims.Exp <= 0 || claims.Exp > 1e11 {
		return time.Time{}
	}
	return time.Unix(int64(claims.Exp), 0)
}
