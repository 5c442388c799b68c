//go:build linux || darwin

package cli_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"jcode/internal/testkit/modeltest"
	"jcode/tools/sandbox"
)

// served is a running jcode serve, and a browser without scripts.
type served struct {
	t       *testing.T
	address string
	code    string
	lines   *bufio.Scanner // what it prints
	cmd     *exec.Cmd
	http    *http.Client
	home    string // the folder of the paired device, with the address
}

// serve starts jcode serve beside a chat. Its first lines are the address and a code.
func (c *chat) serve(args ...string) *served {
	c.t.Helper()
	exe, err := os.Executable()
	if err != nil {
		c.t.Skip(err)
	}
	cmd := c.command(exe, append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...)
	cmd.Args[0] = "jcode"
	said, err := cmd.StderrPipe()
	if err != nil {
		c.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		c.t.Fatal(err)
	}
	s := &served{t: c.t, cmd: cmd, lines: bufio.NewScanner(said), http: &http.Client{Jar: jar, Timeout: patience}}
	c.t.Cleanup(func() {
		s.http.CloseIdleConnections()
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			c.t.Error(err)
		}
		if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 130 {
			c.t.Errorf("jcode serve: %v", err)
		}
	})
	s.address, s.code = s.line(), strings.Fields(s.line())[0]
	return s
}

func (s *served) line() string {
	s.t.Helper()
	if !s.lines.Scan() {
		s.t.Fatalf("jcode serve prints nothing: %v", s.lines.Err())
	}
	return s.lines.Text()
}

// pair pairs the browser, and returns the list that it is shown.
func (s *served) pair(name string) string {
	s.t.Helper()
	res := s.post(s.address+"/pair", url.Values{"code": {s.code}, "name": {name}})
	s.home = strings.TrimSuffix(res.Request.URL.String(), "/")
	return s.body(res, http.StatusOK)
}

func (s *served) post(to string, form url.Values) *http.Response {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, to, strings.NewReader(form.Encode()))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Origin", s.address)
	res, err := s.http.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	return res
}

func (s *served) get(to string) string {
	s.t.Helper()
	res, err := s.http.Get(to)
	if err != nil {
		s.t.Fatal(err)
	}
	return s.body(res, http.StatusOK)
}

func (s *served) body(res *http.Response, code int) string {
	s.t.Helper()
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != code {
		s.t.Fatalf("%s: %s %v\n%s", res.Request.URL, res.Status, err, b)
	}
	return string(b)
}

// opened returns the address of the only open session, from the list.
func (s *served) opened(list string) string {
	s.t.Helper()
	_, rest, ok := strings.Cut(list, `<a href="/d/`)
	if !ok {
		s.t.Fatalf("no session is listed:\n%s", list)
	}
	path, _, _ := strings.Cut(rest, `"`)
	return s.address + "/d/" + path
}

// streamed reads the stream of a session to a text.
func (s *served) streamed(session, until string) string {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, session+"/events", nil)
	if err != nil {
		s.t.Fatal(err)
	}
	res, err := s.http.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	var seen strings.Builder
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		seen.WriteString(lines.Text() + "\n")
		if strings.Contains(lines.Text(), until) {
			return seen.String()
		}
	}
	s.t.Fatalf("%q is not streamed:\n%s", until, seen.String())
	return ""
}

// TestASessionIsFollowedAndAnsweredInABrowser without scripts: the list, the session, what streams, a question with the
// terminal's rows, a prompt.
func TestASessionIsFollowedAndAnsweredInABrowser(t *testing.T) {
	t.Parallel()
	c := newChat(t, asksToTouch()...)
	c.start()
	c.say("make a file")
	c.answerable("touch made.txt")
	s := c.serve()
	list := s.pair("phone")
	if !strings.Contains(list, "needs you") || !strings.Contains(list, c.dir) {
		t.Errorf("the list: %s", list)
	}
	session := s.opened(list)
	page := s.get(session)
	for _, want := range []string{"make a file", "touch made.txt", `value="0" class="row once"`, `class="row no"`, "test-model"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
	_, rest, _ := strings.Cut(page, `name="id" value="`)
	id, _, _ := strings.Cut(rest, `"`)
	s.body(s.post(session+"/answer", url.Values{"id": {id}, "option": {"0"}}), http.StatusOK)
	s.streamed(session, "The file is there.")
	c.wait("The file is there.", "phone answered")
	c.read("made.txt")
	if res := s.post(session+"/answer", url.Values{"id": {id}, "option": {"0"}}); !strings.Contains(s.body(res, http.StatusConflict), "this question is closed") {
		t.Error("it is answered twice")
	}
	c.idle()
	s.body(s.post(session+"/prompt", url.Values{"text": {"and <b>again</b>"}}), http.StatusOK)
	c.wait("again", "Second answer.")
	if seen := s.streamed(session, "Second answer."); !strings.Contains(seen, "and &lt;b&gt;again&lt;/b&gt;") {
		t.Errorf("the prompt: %s", seen)
	}
	c.quit()
	if page := s.get(session); !strings.Contains(page, "This session is not open") || !strings.Contains(page, "Second answer.") {
		t.Errorf("afterwards: %s", page)
	}
}

// TestARevokedDeviceSeesNothingMoreAtOnce, though another process revokes it.
func TestARevokedDeviceSeesNothingMoreAtOnce(t *testing.T) {
	t.Parallel()
	c := newChat(t, modeltest.Text("Hello."))
	c.start()
	c.say("hi")
	c.wait("Hello.")
	c.idle()
	s := c.serve()
	session := s.opened(s.pair("phone"))
	res, err := s.http.Get(session + "/events")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if out, err := c.jcode("", "serve", "devices"); err != nil || !strings.Contains(out, "phone") || !strings.Contains(out, "control") {
		t.Errorf("%v %s", err, out)
	}
	if out, err := c.jcode("", "serve", "revoke", "phone"); err != nil {
		t.Errorf("%v %s", err, out)
	}
	if _, err := io.ReadAll(res.Body); err != nil { // it ends
		t.Logf("the stream ended with %v", err)
	}
	again, err := s.http.Get(session)
	if err != nil {
		t.Fatal(err)
	}
	if body := s.body(again, http.StatusUnauthorized); strings.Contains(body, "Hello.") {
		t.Errorf("it is still shown: %s", body)
	}
	c.quit()
}

// TestWhatAnAgentRunsDoesNotGetOntoThePage: it sees the page with which a device pairs, reads no device's key, and a
// server that it starts is refused by the sessions.
func TestWhatAnAgentRunsDoesNotGetOntoThePage(t *testing.T) {
	t.Parallel()
	if sandbox.Kernel() == 0 {
		t.Skip("no sandbox here")
	}
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl is not installed")
	}
	c := newChat(t, modeltest.Calls(tool("a", "exec", map[string]any{"cmd": "p=run/devices; cat \"$JCODE_HOME/$p\"; jcode serve devices; jcode serve token mine; true"})), modeltest.Text("Read."))
	s := c.serve()
	s.pair("phone")
	c.start("--mode", "auto")
	hash := c.readHome("run/devices")
	if !strings.Contains(hash, `"hash": "`) {
		t.Fatal(hash)
	}
	c.say("read it")
	c.wait("Read.")
	if m, ok := c.request(1).Result("a"); !ok || strings.Contains(m.Content, "phone") {
		t.Errorf("the devices are read: %s", m.Content)
	}
	if after := c.readHome("run/devices"); after != hash {
		t.Errorf("the devices are changed: %s", after)
	}
	info, err := os.Stat(filepath.Join(c.home, "run", "devices"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	c.quit()

	free := newChat(t,
		modeltest.Calls(tool("a", "exec", map[string]any{"cmd": "curl -s " + s.address + "/; curl -s " + s.home + "/"})),
		modeltest.Calls(tool("b", "exec", map[string]any{"cmd": "jcode serve --listen 127.0.0.1:0 2> out & sleep 1; url=$(head -1 out); code=$(sed -n 2p out | cut -d' ' -f1); " +
			"curl -s -L -c jar -b jar -H \"Origin: $url\" -d \"code=$code\" $url/pair; kill $!; wait; true"})),
		modeltest.Text("Tried."))
	free.home = c.home
	free.start("--mode", "yolo")
	free.say("try it")
	free.wait("Tried.")
	if m, ok := free.request(1).Result("a"); !ok || !strings.Contains(m.Content, "Pair this device") || strings.Contains(m.Content, "try it") {
		t.Errorf("without a cookie: %s", m.Content)
	}
	if m, ok := free.request(2).Result("b"); !ok || !strings.Contains(m.Content, "hung up") {
		t.Errorf("a server of its own: %s", m.Content)
	}
	free.quit()
}

// TestTheSharedPageIsRefusedWithoutTLS where others reach it.
func TestTheSharedPageIsRefusedWithoutTLS(t *testing.T) {
	t.Parallel()
	c := newChat(t)
	for args, want := range map[string]string{
		"--listen 0.0.0.0:0":                "unencrypted",
		"--listen :0":                       "unencrypted",
		"--listen 7333":                     "an address and a port",
		"--cert a.pem":                      "belong together",
		"--behind-proxy http://example.org": "--behind-proxy",
		"--behind-proxy https://example.org/somewhere": "--behind-proxy",
	} {
		if out, err := c.jcode("", append([]string{"serve"}, strings.Fields(args)...)...); err == nil || !strings.Contains(out, want) {
			t.Errorf("%s: %v %s", args, err, out)
		}
	}
}
