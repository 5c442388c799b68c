//go:build linux

package auth

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/zalando/go-keyring"
)

// The keyring of a real desktop stores, changes and deletes sign-ins, a second process finds them,
// and no file contains a token.
func TestRealSecretServiceKeepsSignIns(t *testing.T) {
	if os.Getenv(secretServiceVariable) != "" {
		keepInSecretService(t)
		return
	}
	t.Parallel()
	for _, name := range []string{"dbus-run-session", "dbus-send", "gnome-keyring-daemon"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("%s is missing (Debian: apt-get install dbus gnome-keyring)", name)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	run := filepath.Join(home, "run")
	if err := os.Mkdir(run, 0o700); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	// A request before the daemon has registered its name would start another daemon, which is locked.
	script := `printf secret | gnome-keyring-daemon --unlock --components=secrets --foreground >/dev/null 2>&1 & daemon=$!
		for i in $(seq 600); do
			dbus-send --session --print-reply --dest=org.freedesktop.DBus / org.freedesktop.DBus.NameHasOwner string:org.freedesktop.secrets | grep -q true && break
			sleep 0.05
		done
		"$0" -test.run '^TestRealSecretServiceKeepsSignIns$' -test.v; rc=$?; kill $daemon; wait $daemon; exit $rc`
	cmd := exec.CommandContext(ctx, "dbus-run-session", "--", "sh", "-c", script, self)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "XDG_RUNTIME_DIR=" + run, "XDG_DATA_HOME=" + filepath.Join(home, "data"), secretServiceVariable + "=1"}
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestRealSecretServiceKeepsSignIns") {
		t.Errorf("%v\n%s", err, out)
	}
}

// keepInSecretService runs inside such a session.
func keepInSecretService(t *testing.T) {
	if _, err := keyring.Get(service, "probe"); !errors.Is(err, keyring.ErrNotFound) {
		t.Fatalf("the secret service does not answer: %v", err)
	}
	r := newRig(t, "ok")
	r.k.getenv = os.Getenv
	if _, ok := r.k.open().(keyringStore); !ok {
		t.Fatalf("kept in %s", r.k.Where())
	}
	r.mustSignIn(&browser{})
	r.srv.Expire()
	second := NewKeeper(r.k.dir) // another process, which renews
	if status, err := r.call(second.For(r.server)); err != nil || status == 401 || r.srv.Seen("refresh_token") != 1 {
		t.Errorf("%d %v, renewed %d times", status, err, r.srv.Seen("refresh_token"))
	}
	if !r.open() {
		t.Error("the first process does not find the renewed token")
	}
	err := filepath.WalkDir(r.k.dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if strings.Contains(string(data), "access-") || strings.Contains(string(data), "refresh-") {
			t.Errorf("%s holds a token", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	// A keyring limits the length of an entry; a long token must be returned whole.
	long := record{Server: "x", Access: strings.Repeat("a", 40<<10), Refresh: "ü☃"}
	if err := r.k.open().put("long", long); err != nil {
		t.Error(err)
	}
	if got, err := r.k.open().get("long"); err != nil || got.Access != long.Access || got.Refresh != long.Refresh {
		t.Errorf("%d bytes came back: %v", len(got.Access), err)
	}
	if had, err := r.k.Forget(t.Context(), r.server); !had || err != nil || r.open() {
		t.Errorf("%v %v", had, err)
	}
}
