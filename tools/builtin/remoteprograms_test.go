//go:build linux || darwin

package builtin_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"jcode/internal/testkit/eventually"
	"jcode/internal/testkit/postgrestest"
	"jcode/tools/builtin"
)

// sshServer starts sshd in a temporary folder, for this user, who has a key with a passphrase. It returns the command
// that signs in and runs a line there.
func sshServer(t *testing.T, passphrase string) (dir string, command func(line string) string) {
	t.Helper()
	server := "/usr/sbin/sshd"
	for _, program := range []string{server, "ssh", "ssh-keygen"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not on this machine: scripts/install-ssh-server", program)
		}
	}
	who, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	if who.Uid == "0" {
		if _, err := os.Stat("/run/sshd"); err != nil {
			t.Skip("there is no folder /run/sshd: scripts/install-ssh-server")
		}
	}
	dir = t.TempDir()
	for name, secret := range map[string]string{"host": "", "user": passphrase} {
		if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", secret, "-f", filepath.Join(dir, name)).CombinedOutput(); err != nil {
			t.Fatalf("%v %s", err, out)
		}
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := free.Addr().(*net.TCPAddr).Port
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	conf := filepath.Join(dir, "sshd_config")
	if err := os.WriteFile(conf, fmt.Appendf(nil, "ListenAddress 127.0.0.1\nPort %d\nHostKey %s\nAuthorizedKeysFile %s\nStrictModes no\nUsePAM no\nPidFile none\nPermitRootLogin yes\nPasswordAuthentication no\nKbdInteractiveAuthentication no\n",
		port, filepath.Join(dir, "host"), filepath.Join(dir, "user.pub")), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(server, "-D", "-e", "-f", conf)
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	})
	address := net.JoinHostPort("127.0.0.1", fmt.Sprint(port))
	if !eventually.Holds(30*time.Second, func() bool {
		c, err := net.Dial("tcp", address)
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	}) {
		t.Skipf("sshd does not start here: %s", said.String())
	}
	return dir, func(line string) string {
		return fmt.Sprintf("ssh -F /dev/null -p %d -i %s -o IdentitiesOnly=yes -o IdentityAgent=none -o UserKnownHostsFile=%s -o GlobalKnownHostsFile=/dev/null %s@127.0.0.1 '%s'",
			port, filepath.Join(dir, "user"), filepath.Join(dir, "known"), who.Username, line)
	}
}

// nowhere checks that a secret is in none of the texts, nor in a file of a folder.
func nowhere(t *testing.T, secret, dir string, texts ...string) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil || len(files) == 0 {
		t.Fatal("no log", err)
	}
	for _, f := range files {
		b, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(b))
	}
	for _, text := range texts {
		if strings.Contains(text, secret) {
			t.Errorf("%s is in %s", secret, text)
		}
	}
}

func TestSSHAsksForAHostsKeyAndAPassphrase(t *testing.T) {
	t.Parallel()
	asked, logs := make(chan builtin.SecretQuestion, 3), t.TempDir()
	c := newConsole(t, secrets(asked, "battery-staple"), func(o *builtin.ShellOptions) { o.Logs = logs })
	dir, command := sshServer(t, "battery-staple")
	c.start("ssh", command("echo signed-$((40+2))-in"))
	out := c.wait(`yes/no`)
	if _, err := os.Stat(filepath.Join(dir, "known")); err == nil {
		t.Error("the host is known before anybody said yes")
	}
	out += c.write("yes\n", "")
	if n := c.questions(); n != 1 {
		t.Errorf("text for ssh asked %d times, want once", n)
	}
	out += c.wait("signed-42-in")
	if q := <-asked; !strings.Contains(q.Prompt, "passphrase") || q.Program != "ssh" {
		t.Errorf("the question: %+v", q)
	}
	if known, err := os.ReadFile(filepath.Join(dir, "known")); err != nil || !strings.Contains(string(known), "ssh-ed25519") {
		t.Errorf("the host's key: %s, %v", known, err)
	}
	nowhere(t, "battery-staple", logs, out, c.do("job", m{"action": "output", "id": 1}), c.do("job", m{"action": "read", "id": 1}))
}

func TestPsqlIsTalkedToAfterAPassword(t *testing.T) {
	t.Parallel()
	asked, logs := make(chan builtin.SecretQuestion, 3), t.TempDir()
	c := newConsole(t, secrets(asked, "battery-staple"), func(o *builtin.ShellOptions) { o.Logs = logs })
	if _, err := exec.LookPath("psql"); err != nil {
		t.Skip("psql is not on this machine: scripts/install-postgres")
	}
	var servers postgrestest.Servers
	server := servers.Of(t)
	t.Cleanup(servers.Stop)
	c.start("psql", "PAGER=cat psql -X -W '"+server.Database(t)+"'")
	out := c.wait(`=[>#]`)
	if q := <-asked; !strings.Contains(q.Prompt, "Password") || q.Program != "psql" {
		t.Errorf("the question: %+v", q)
	}
	out += c.write("select 'forty-' || 'two';\n", "")
	if n := c.questions(); n != 1 {
		t.Errorf("text for psql asked %d times, want once", n)
	}
	out += c.wait("forty-two")
	out += c.write("\\q\n", "")
	c.ends("exit 0")
	nowhere(t, "battery-staple", logs, out, c.do("job", m{"action": "output", "id": 1}))
}
