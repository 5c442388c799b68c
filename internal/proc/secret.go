package proc

import (
	"net/url"
	"slices"
	"strings"
)

// WithoutSecrets returns an environment without what looks like a secret, by its name or by
// its value, but for the names in keep. It is for commands that may print it unasked: it is
// stricter than CommandEnv, which must not take from a build what that may need.
func WithoutSecrets(env, keep []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, value, ok := split(kv)
		return ok && !contains(keep, name) && (IsSecretName(name) || namesSecret(name) || looksLikeSecret(value) || holdsSecret(value))
	})
}

// namesSecret knows further names, which a build may use for something else.
func namesSecret(name string) bool {
	for _, w := range strings.Split(strings.ToUpper(name), "_") {
		switch w {
		case "PASS", "JWT", "COOKIE", "COOKIES", "SK", "WEBHOOK", "WEBHOOKS", "DSN", "CREDS", "CRED", "SIGNATURE", "SALT", "PIN", "OTP", "BEARER", "PRIVATE":
			return true
		case "BYPASS", "COMPASS":
			continue
		}
		if strings.HasSuffix(w, "PASS") || strings.HasSuffix(w, "PASSWD") || strings.HasSuffix(w, "SECRET") || strings.HasSuffix(w, "COOKIE") {
			return true
		}
	}
	return strings.Contains(strings.ToUpper(name), "CONNECTION_STRING")
}

// holdsSecret knows values with a secret inside: an address with a password, a connection
// string, a signed token, and long text that nobody wrote by hand.
func holdsSecret(value string) bool {
	low := strings.ToLower(value)
	for _, s := range []string{"password=", "passwd=", "pwd=", "accountkey=", "sharedaccesskey=", "secret=", "token=", "apikey=", "api_key=", "authorization:", "bearer ", "-----begin"} {
		if strings.Contains(low, s) {
			return true
		}
	}
	for field := range strings.FieldsSeq(value) {
		if i := strings.Index(field, "://"); i > 0 {
			if u, err := url.Parse(field); err == nil && u.User != nil {
				return true
			} else if err != nil && strings.Contains(field[i:], "@") {
				return true
			}
			if strings.Contains(low, "hooks.") {
				return true // whoever knows the address may post
			}
		}
	}
	return strings.HasPrefix(value, "eyJ") && strings.Count(value, ".") == 2 || random(value)
}

// random reports whether a value is one long run of letters and digits of both cases, as
// keys are. Hashes and identifiers, which are of one case, are not taken for it.
func random(value string) bool {
	if len(value) < 24 || strings.Trim(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/=_-") != "" || strings.HasPrefix(value, "/") {
		return false
	}
	kinds := []string{"abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789"}
	changes, last, seen := 0, -1, [3]bool{}
	for i := range len(value) {
		for k, set := range kinds {
			if strings.IndexByte(set, value[i]) >= 0 && k != last {
				changes, last, seen[k] = changes+1, k, true
			}
		}
	}
	return seen == [3]bool{true, true, true} && changes > len(value)/3
}
