// Package secret owns what is considered a secret, by name or by value, and the mark that replaces one.
//
// It must not know where a name or value comes from, or what is done about a secret.
package secret

import (
	"net/url"
	"slices"
	"strings"
	"unicode"
)

// Mark replaces a secret.
const Mark = "***"

// Name reports whether a variable or setting of that name is considered a key, token or password.
// GITHUB_TOKEN is one, MAX_TOKENS is not.
func Name(name string) bool {
	words := split(name)
	if len(words) == 0 || words[len(words)-1] == "ENV" { // it names a variable
		return false
	}
	for i, w := range words {
		switch w {
		case "TOKEN", "SECRET", "SECRETS", "PASSWORD", "PASSWD", "PASSPHRASE", "APIKEY", "CREDENTIAL", "CREDENTIALS", "CREDS", "CRED", "PAT",
			"PASS", "JWT", "COOKIE", "COOKIES", "SK", "WEBHOOK", "WEBHOOKS", "DSN", "SIGNATURE", "SALT", "PIN", "OTP", "BEARER", "PRIVATE", "AUTHORIZATION":
			return true
		case "PWD":
			// PWD and OLDPWD alone are folders, DB_PWD is a password.
			if i > 0 {
				return true
			}
		case "KEY", "KEYS":
			// OPENAI_API_KEY, AWS_ACCESS_KEY_ID, MISTRAL_KEY.
			if i > 0 && (i == len(words)-1 || slices.Contains([]string{"API", "ACCESS", "PRIVATE", "AUTH"}, words[i-1])) {
				return true
			}
		case "AUTH":
			// NPM_AUTH, HTTP_AUTH; SSH_AUTH_SOCK is the agent's socket.
			if i > 0 && i == len(words)-1 {
				return true
			}
		case "HEADERS":
			// OTEL_EXPORTER_OTLP_HEADERS: a collector's key.
			if slices.Contains(words, "OTLP") {
				return true
			}
		case "BYPASS", "COMPASS":
			continue
		case "STRING":
			if i > 0 && (words[i-1] == "CONNECTION" || words[i-1] == "CONN") {
				return true
			}
		}
		for _, end := range []string{"APIKEY", "TOKEN", "PASSWORD", "PASS", "PASSWD", "SECRET", "COOKIE"} {
			if strings.HasSuffix(w, end) {
				return true
			}
		}
	}
	return false
}

// Parameter reports whether the value of a flag, a query or a setting of that name is considered a secret:
// what Name considers one, and words that are one on their own.
func Parameter(name string) bool {
	if Name(name) {
		return true
	}
	words := split(name)
	if len(words) == 0 {
		return false
	}
	switch last := words[len(words)-1]; last {
	case "KEY", "AUTH", "SIG", "CODE":
		return true
	case "KEYS", "TOKENS":
		return len(words) == 1 && last == "TOKENS"
	}
	return false
}

// split splits a name into its words, in capitals: SOME_NAME, some-name, someName.
func split(name string) []string {
	var words []string
	var b strings.Builder
	end := func() {
		if b.Len() > 0 {
			words = append(words, b.String())
			b.Reset()
		}
	}
	lower := false
	for _, r := range name {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			end()
			lower = false
			continue
		case unicode.IsUpper(r) && lower:
			end()
		}
		lower = unicode.IsLower(r)
		b.WriteRune(unicode.ToUpper(r))
	}
	end()
	return words
}

// Value reports whether a value is considered a secret, or contains one: a key of a known service, an address
// with a password, a connection string, a signed token, and long random text.
func Value(value string) bool {
	if service(value) {
		return true
	}
	for part := range strings.FieldsFuncSeq(value, between) {
		if strings.ContainsAny(part, "0123456789") && service(part) || part != value && random(part) {
			return true
		}
	}
	low := strings.ToLower(value)
	for _, s := range []string{
		"password=", "passwd=", "pwd=", "accountkey=", "sharedaccesskey=", "sharedaccesssignature=", "secret=", "token=", "apikey=", "api_key=", "authorization:", "bearer ", "-----begin", `"auth":`,
	} {
		if strings.Contains(low, s) {
			return true
		}
	}
	for field := range strings.FieldsSeq(value) {
		if address(field) {
			return true
		}
	}
	return strings.HasPrefix(value, "eyJ") && strings.Count(value, ".") == 2 || random(value)
}

// between reports whether a character separates the parts of a value: `user:KEY`, `a=KEY;b=c`, `["KEY"]`.
func between(r rune) bool { return r <= ' ' || strings.ContainsRune(",;:=&|\"'`()[]{}<>", r) }

// service reports whether a text begins as the keys of a known service do.
func service(text string) bool {
	if len(text) < 20 || strings.ContainsAny(text, " /\t\n") {
		return false
	}
	return slices.ContainsFunc(prefixes[:], func(p string) bool { return strings.HasPrefix(text, p) })
}

// prefixes are the beginnings of keys.
var prefixes = [...]string{
	"sk-", "sk_live_", "sk_test_", "rk_live_", "rk_test_", "whsec_", "ghp_", "gho_", "ghs_", "ghu_", "ghr_", "github_pat_", "glpat-", "gldt-", "glrt-", "glsa_", "glc_",
	"xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxe-", "xoxe.", "xapp-", "AIza", "ya29.", "GOCSPX-", "AKIA", "ASIA", "gsk_", "xai-", "hf_", "npm_", "pypi-", "dop_v1_", "doo_v1_", "dor_v1_",
	"dckr_pat_", "SG.", "shpat_", "shpss_", "shpca_", "ATATT3", "lin_api_", "ntn_", "figd_", "sbp_", "sntrys_", "sntryu_", "hvs.", "hvb.", "hvr.", "nvapi-", "pplx-", "r8_", "tvly-", "fw_",
	"AGE-SECRET-KEY-", "PMAK-", "phx_", "rpa_", "EAACEdEose0cBA", "eyJhbGciOi",
}

// minUser is the length from which the user of an address is a token: `https://TOKEN@host`.
const minUser = 16

// address reports whether a text is an address that contains credentials.
func address(field string) bool {
	i := strings.Index(field, "://")
	if i <= 0 {
		at := strings.LastIndexByte(field, '@')
		user, password, ok := strings.Cut(field[:max(at, 0)], ":") // user:password@tcp(host)/name
		return at > 0 && ok && user != "" && password != "" && !strings.ContainsAny(field[:at], "/@ ")
	}
	u, err := url.Parse(field)
	if err != nil {
		return strings.Contains(field[i:], "@")
	}
	if _, has := u.User.Password(); has || len(u.User.Username()) >= minUser {
		return true
	}
	path := strings.ToLower(u.Path)
	return strings.HasPrefix(strings.ToLower(u.Host), "hooks.") || strings.Contains(path, "/webhooks/") || strings.Contains(path, "/hooks/")
}

// random reports whether a value is one long run of letters of both cases and digits, as keys are. Hashes and
// identifiers, which use one case, are not matched.
func random(value string) bool {
	const lower, upper, digits = "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789"
	if len(value) < 24 || strings.Trim(value, lower+upper+digits+"+/=_-") != "" || strings.HasPrefix(value, "/") {
		return false
	}
	changes, last, seen := 0, -1, [3]bool{}
	for i := range len(value) {
		for k, set := range [3]string{lower, upper, digits} {
			if strings.IndexByte(set, value[i]) >= 0 && k != last {
				changes, last, seen[k] = changes+1, k, true
			}
		}
	}
	return seen == [3]bool{true, true, true} && changes > len(value)/3
}
