package credential

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"jcode/agent/model/provider"
)

// awsSource signs requests with credentials of AWS, which come from a command, the environment or the files that AWS's
// own tools share.
type awsSource struct {
	cfg     provider.Config
	service string
	now     func() time.Time
	byUser  *runner // providers.NAME.key_command, nil without one

	mu      sync.Mutex
	process *runner // credential_process of the profile, nil until it is known
	skew    time.Duration
	last    written
}

func newAWS(cfg provider.Config) *awsSource {
	if cfg.Getenv == nil {
		cfg.Getenv = func(string) string { return "" }
	}
	a := &awsSource{cfg: cfg, service: "bedrock", now: time.Now}
	if len(cfg.KeyCommand) > 0 {
		a.byUser = newRunner(cfg.Name, cfg.KeyCommand, cfg.Programs)
	}
	return a
}

// Authorize implements Source.
func (a *awsSource) Authorize(ctx context.Context, req *http.Request, body []byte) error {
	w, err := a.credentials(ctx)
	if err != nil {
		return err
	}
	a.mu.Lock()
	at := a.now().Add(a.skew)
	a.last = w
	a.mu.Unlock()
	if w.key != "" { // a bearer token
		sign(req, "", w.key)
		return nil
	}
	return signAWS(ctx, w.aws, req, body, a.service, a.cfg.Region, at)
}

// signAWS signs a request by AWS's Signature Version 4.
func signAWS(ctx context.Context, keys awsKeys, req *http.Request, body []byte, service, region string, at time.Time) error {
	for _, name := range []string{"Authorization", "X-Api-Key", "X-Amz-Date", "X-Amz-Security-Token"} {
		req.Header.Del(name)
	}
	sum := sha256.Sum256(body)
	return v4.NewSigner().SignHTTP(ctx, aws.Credentials{AccessKeyID: keys.id, SecretAccessKey: keys.secret, SessionToken: keys.token},
		req, hex.EncodeToString(sum[:]), service, region, at)
}

// credentials returns the credentials that hold now: the command's, the environment's, the profile's.
func (a *awsSource) credentials(ctx context.Context) (written, error) {
	if a.byUser != nil {
		return a.byUser.get(ctx)
	}
	env := a.cfg.Getenv
	if w := (written{aws: awsKeys{env("AWS_ACCESS_KEY_ID"), env("AWS_SECRET_ACCESS_KEY"), env("AWS_SESSION_TOKEN")}}); w.aws.id != "" && w.aws.secret != "" && a.cfg.Profile == "" {
		return w, nil
	}
	p, err := provider.ReadAWSProfile(env, a.cfg.Profile)
	if err != nil {
		return written{}, fail("%s: %v", a.cfg.Name, err)
	}
	if w := (written{aws: awsKeys{p.Values["aws_access_key_id"], p.Values["aws_secret_access_key"], p.Values["aws_session_token"]}}); w.aws.id != "" && w.aws.secret != "" {
		return w, nil
	}
	if line := p.Values["credential_process"]; line != "" {
		return a.byProcess(line).get(ctx)
	}
	advice := `set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_BEARER_TOKEN_BEDROCK`
	if p.Values["sso_session"] != "" || p.Values["sso_start_url"] != "" || p.Values["role_arn"] != "" || p.Values["login_session"] != "" {
		advice = `let AWS's own program write them: "key_command": ["aws", "configure", "export-credentials", "--profile", "` + p.Name + `"]`
	}
	return written{}, fail("%s: no credentials in the environment or in the profile %s: %s", a.cfg.Name, p.Name, advice)
}

// byProcess returns what runs the credential_process of the profile.
func (a *awsSource) byProcess(line string) *runner {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.process == nil || strings.Join(a.process.args, "\x00") != strings.Join(words(line), "\x00") {
		a.process = newRunner(a.cfg.Name, words(line), a.cfg.Programs)
	}
	return a.process
}

// words divides a line of AWS's settings as its own tools do: at blanks outside of double quotes.
func words(line string) (out []string) {
	var word strings.Builder
	quoted, any := false, false
	for _, r := range line {
		switch {
		case r == '"':
			quoted, any = !quoted, true
		case r == ' ' && !quoted || r == '\t' && !quoted:
			if any {
				out = append(out, word.String())
			}
			word.Reset()
			any = false
		default:
			word.WriteRune(r)
			any = true
		}
	}
	if any {
		out = append(out, word.String())
	}
	return out
}

// maxSaid bounds what is read of a refusal.
const maxSaid = 64 << 10

// Again implements Source: credentials that expired are read once more, and a clock that differs from the provider's is
// allowed for.
func (a *awsSource) Again(req *http.Request, resp *http.Response) bool {
	if resp.StatusCode != http.StatusForbidden && resp.StatusCode != http.StatusUnauthorized && resp.StatusCode != http.StatusBadRequest {
		return false
	}
	said, rest := peek(resp.Body)
	resp.Body = rest
	kind := resp.Header.Get("X-Amzn-Errortype") + " " + said
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case strings.Contains(kind, "Signature expired") || strings.Contains(kind, "Signature not yet current") || strings.Contains(kind, "RequestTimeTooSkewed"):
		at, err := http.ParseTime(resp.Header.Get("Date"))
		if err != nil {
			return false
		}
		before := a.skew
		a.skew = at.Sub(a.now()).Round(time.Second)
		return (a.skew - before).Abs() > time.Minute
	case strings.Contains(kind, "ExpiredToken") || strings.Contains(kind, "is expired") || resp.StatusCode == http.StatusUnauthorized:
		used := a.last
		for _, r := range []*runner{a.byUser, a.process} {
			if r != nil && r.forget(used.name()) {
				return true
			}
		}
		// The file may hold newer ones by now.
		p, err := provider.ReadAWSProfile(a.cfg.Getenv, a.cfg.Profile)
		return err == nil && p.Values["aws_access_key_id"] != "" && p.Values["aws_access_key_id"] != used.aws.id
	}
	return false
}

// peek returns the beginning of a body, and the whole of it again.
func peek(body io.ReadCloser) (string, io.ReadCloser) {
	said, _ := io.ReadAll(io.LimitReader(body, maxSaid)) // the rest of a broken answer is missing for whoever reads it, too
	return string(said), struct {
		io.Reader
		io.Closer
	}{io.MultiReader(strings.NewReader(string(said)), body), body}
}

// Secrets implements Source.
func (a *awsSource) Secrets() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.last.secrets()
}
