//go:build linux || darwin

package cli_test

import (
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"jcode/internal/testkit/modeltest"
	"jcode/internal/testkit/terminal"
)

// TestRemoteShowsTheSessionOnADevice: /remote serves the page beside the session, shows address and code, lists the
// device that pairs, and one key revokes it and ends what it does. It ends with the session.
func TestRemoteShowsTheSessionOnADevice(t *testing.T) {
	t.Parallel()
	c := newChat(t, modeltest.Text("Hello there."))
	c.start()
	c.say("hi")
	c.wait("Hello there.")
	c.idle()
	c.say("/remote")
	c.wait("Pair a device", "code ")
	c.Press("enter")
	c.wait("for 10 minutes", "until the session ends")
	screen := strings.Join(strings.Fields(c.Screen().Text()), " ")
	found := regexp.MustCompile(`(http://127\.0\.0\.1:\d+) ([a-z0-9]{8}) code`).FindStringSubmatch(screen)
	if found == nil {
		t.Fatal(screen)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	s := &served{t: t, address: found[1], code: found[2], http: &http.Client{Jar: jar, Timeout: patience}}
	t.Cleanup(s.http.CloseIdleConnections)
	list := s.pair("phone")
	session := s.opened(list)
	if page := s.get(session); !strings.Contains(page, "Hello there.") {
		t.Error(page)
	}
	res, err := s.http.Get(session + "/events")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if out, err := c.jcode("", "serve", "devices"); err != nil || !strings.Contains(out, "phone") {
		t.Errorf("%v %s", err, out)
	}
	c.say("/remote")
	c.wait("Pair a device", "phone", "control")
	c.Press("down")
	c.wait("paired ")
	c.Press("ctrl+d")
	c.wait("again to revoke")
	c.Press("ctrl+d")
	c.wait("may not see the page any more")
	for b := make([]byte, 1<<10); ; { // the stream ends
		if _, err := res.Body.Read(b); err != nil {
			break
		}
	}
	again, err := s.http.Get(session)
	if err != nil {
		t.Fatal(err)
	}
	s.body(again, http.StatusUnauthorized)
	if res := s.post(s.address+"/pair", url.Values{"code": {s.code}}); res.StatusCode != http.StatusForbidden {
		t.Errorf("a used code: %s", res.Status)
	}
	c.Press("esc")
	c.until(func(s terminal.Screen) bool { return !s.Contains("Open sessions in a browser") })
	c.say("/remote https://desk.example.org")
	c.wait("https://desk.example.org", "█", "for 10 minutes")
	c.quit()
	for until := time.Now().Add(patience); ; {
		res, err := http.Get(s.address)
		if err != nil {
			break
		}
		_ = res.Body.Close()
		if time.Now().After(until) {
			t.Fatal("the page is served after the session")
		}
	}
}

// TestRemoteUsesTheServerThatThereIs: the code of a session lets a device into jcode serve.
func TestRemoteUsesTheServerThatThereIs(t *testing.T) {
	t.Parallel()
	c := newChat(t, modeltest.Text("Hello there."))
	s := c.serve()
	c.start()
	c.say("hi")
	c.wait("Hello there.")
	c.idle()
	c.say("/remote watch")
	c.wait(s.address, "that only watches", "jcode serve serves it")
	screen := strings.Join(strings.Fields(c.Screen().Text()), " ")
	found := regexp.MustCompile(`([a-z0-9]{8}) code for one`).FindStringSubmatch(screen)
	if found == nil {
		t.Fatal(screen)
	}
	s.code = found[1]
	if page := s.get(s.opened(s.pair("tablet"))); !strings.Contains(page, "You watch this session.") {
		t.Error(page)
	}
	c.quit()
}
