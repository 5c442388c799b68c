package clone_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"jcode/tasks/clone"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestPatternsMeanAddresses(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		pattern, address string
		want             bool
	}{
		{"git@host:team/*", "git@host:team/app", true},
		{"git@host:team/*", "git@host:team/app.git", true},
		{"git@host:team/*", "git@host:team/sub/app", false},
		{"git@host:team/**", "git@host:team/sub/app", true},
		{"git@host:team/*", "git@host:other/app", false},
		{"git@host:team/*", "git@hostx:team/app", false},
		{"git@h.st:team/*", "git@hxst:team/app", false},
		{"https://*/team/app", "https://host/team/app", true},
		{"https://host/*", "https://host/team/app", false},
		{"**", "https://host/team/app", true},
		{"**", "file:///srv/app.git", false},
		{"file:///srv/*", "file:///srv/app.git", true},
		{"**", "ext::sh -c x", false},
		{"**", "--upload-pack=x", false},
		{"**", "git@host:team/../x", false},
	} {
		if got := clone.Match([]string{"none@x:y", row.pattern}, row.address); got != row.want {
			t.Errorf("%s means %s: %v", row.pattern, row.address, got)
		}
	}
	for _, bad := range []string{"", "*", "team/*", "ext::*", "-x@y:z", "https://u:p@host/*"} {
		if err := clone.CheckPattern(bad); err == nil || strings.Contains(err.Error(), "u:p") {
			t.Errorf("pattern %q: %v", bad, err)
		}
	}
}

// silent is a host that takes connections and never says a word.
func silent(t *testing.T) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return "https://" + l.Addr().String() + "/team/app"
}

func TestAHostThatHangsIsWaitedForOnlySoLong(t *testing.T) {
	t.Parallel()
	clones := clone.In(t.TempDir())
	clones.Ask = 300 * time.Millisecond
	if _, err := clones.Commit(t.Context(), silent(t), "main"); !errors.Is(err, clone.ErrUnreachable) || !strings.Contains(err.Error(), "did not answer within 300ms") {
		t.Errorf("asked for a commit: %v", err)
	}
	clones.Fetch = 300 * time.Millisecond
	if _, _, err := clones.Prepare(t.Context(), silent(t), strings.Repeat("0123456789", 4)); !errors.Is(err, clone.ErrUnreachable) || !strings.Contains(err.Error(), "did not answer within") {
		t.Errorf("fetched: %v", err)
	}
	clones.Fetch = 0
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	began := time.Now()
	if _, _, err := clones.Prepare(ctx, silent(t), strings.Repeat("0123456789", 4)); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > 30*time.Second {
		t.Errorf("cancelled: %v after %s", err, time.Since(began))
	}
}
