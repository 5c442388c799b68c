//go:build linux || darwin

package page_test

import (
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"jcode/agent/event"
	"jcode/page"
	"jcode/remote"
	"jcode/tools"
)

// TestACodeIsGoodOnceAndNotForLong: wrong tries end it, a use and ten minutes too.
func TestACodeIsGoodOnceAndNotForLong(t *testing.T) {
	s := newStage(t)
	if res := s.try(""); res.StatusCode != http.StatusForbidden {
		t.Errorf("without a code: %s", res.Status)
	}
	code := s.code(remote.Control)
	if len(code) != 8 {
		t.Errorf("the code is %q", code)
	}
	for range 4 {
		if res := s.try("aaaaaaaa"); res.StatusCode != http.StatusForbidden {
			t.Errorf("a wrong code: %s", res.Status)
		}
	}
	if res := s.try(" " + strings.ToUpper(code[:4]) + "-" + code[4:]); res.StatusCode != http.StatusSeeOther {
		t.Errorf("the code after four wrong tries: %s", res.Status)
	}
	if res := s.try(code); res.StatusCode != http.StatusForbidden {
		t.Errorf("the code again: %s", res.Status)
	}
	code = s.code(remote.Control)
	for range 5 {
		s.try("aaaaaaaa")
	}
	if res := s.try(code); res.StatusCode != http.StatusForbidden || !strings.Contains(s.body(res), "No code is valid now") {
		t.Errorf("the code after five wrong tries: %s", res.Status)
	}
	code = s.code(remote.Control)
	s.codes.Pass(page.CodeFor + time.Second)
	if res := s.try(code); res.StatusCode != http.StatusForbidden {
		t.Errorf("the code after its time: %s", res.Status)
	}
	if list, err := s.devices.List(); err != nil || len(list) != 1 {
		t.Errorf("%v %v", list, err)
	}
}

// TestTheKeyOfADeviceGoesToItsOwnFolderAlone, where no script and no other site's page can use it; only a hash is kept.
func TestTheKeyOfADeviceGoesToItsOwnFolderAlone(t *testing.T) {
	s := newStage(t, func(o *page.Options) { o.Public = "https://desk.example.org" })
	one, two := s.pair(remote.Control), s.pair(remote.Control)
	k := one.key
	if k.Path != one.home || !k.HttpOnly || k.SameSite != http.SameSiteStrictMode || k.Domain != "" || k.Secure {
		t.Errorf("the cookie: %+v", k)
	}
	if strings.Contains(one.home, k.Value) {
		t.Error("the key stands in an address")
	}
	for path, want := range map[string]int{one.home: http.StatusOK, two.home: http.StatusUnauthorized, two.session(): http.StatusUnauthorized, "/d/x/": http.StatusUnauthorized} {
		if res := s.send(one.as(http.MethodGet, path, nil)); res.StatusCode != want {
			t.Errorf("%s: %s", path, res.Status)
		}
	}
	if res := s.send(one.as(http.MethodPost, two.session()+"/prompt", url.Values{"text": {"x"}})); res.StatusCode != http.StatusUnauthorized {
		t.Errorf("another one's session: %s", res.Status)
	}
	kept, err := os.ReadFile(filepath.Join(s.place.Dir, "devices"))
	if err != nil || strings.Contains(string(kept), k.Value) {
		t.Errorf("%v: the key is kept: %s", err, kept)
	}
	req := s.request(http.MethodPost, "/pair", url.Values{"code": {s.code(remote.Control)}})
	req.Host = "desk.example.org"
	req.Header.Set("Origin", "https://desk.example.org")
	if res := s.send(req); len(res.Cookies()) != 1 || !res.Cookies()[0].Secure {
		t.Errorf("over TLS: %s %v", res.Status, res.Cookies())
	}
	v, key, err := s.devices.Add("script", remote.Watch, true)
	if err != nil {
		t.Fatal(err)
	}
	for _, with := range []string{key, "wrong", k.Value} {
		req := s.request(http.MethodGet, "/d/"+v.ID+"/s/s1", nil)
		req.Header.Set("Authorization", "Bearer "+with)
		if res := s.send(req); (res.StatusCode == http.StatusOK) != (with == key) {
			t.Errorf("a token: %s", res.Status)
		}
	}
	stolen := s.request(http.MethodGet, "/d/"+v.ID+"/s/s1", nil)
	stolen.AddCookie(&http.Cookie{Name: "jcode", Value: key})
	if res := s.send(stolen); res.StatusCode != http.StatusUnauthorized {
		t.Errorf("a token as a cookie: %s", res.Status)
	}
}

// TestAnotherPageGetsNothingAndChangesNothing: forms and scripts of other sites, of other ports, under a name that was
// bound to this address, and in frames.
func TestAnotherPageGetsNothingAndChangesNothing(t *testing.T) {
	s := newStage(t)
	d := s.pair(remote.Control)
	port := s.origin[strings.LastIndex(s.origin, ":"):]
	type header = map[string]string
	for name, c := range map[string]struct {
		method string
		header header
		want   int
	}{
		"its own form":                {http.MethodPost, nil, http.StatusSeeOther},
		"a form of another site":      {http.MethodPost, header{"Origin": "https://evil.example"}, http.StatusForbidden},
		"a form of another port":      {http.MethodPost, header{"Origin": "http://127.0.0.1:3000", "Sec-Fetch-Site": "same-site"}, http.StatusForbidden},
		"a form of a sandboxed frame": {http.MethodPost, header{"Origin": "null"}, http.StatusForbidden},
		"a form without an origin":    {http.MethodPost, header{"Origin": ""}, http.StatusForbidden},
		"a name bound to the address": {http.MethodPost, header{"Host": "evil.example" + port, "Origin": "http://evil.example" + port}, http.StatusMisdirectedRequest},
		"a name that looks alike":     {http.MethodGet, header{"Host": "localhost.evil.example" + port}, http.StatusMisdirectedRequest},
		"a script of another port":    {http.MethodGet, header{"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "empty"}, http.StatusForbidden},
		"a script element":            {http.MethodGet, header{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "script"}, http.StatusForbidden},
		"a frame of another site":     {http.MethodGet, header{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"}, http.StatusForbidden},
		"a question before a script":  {http.MethodOptions, header{"Origin": "https://evil.example"}, http.StatusForbidden},
		"another method":              {http.MethodPut, header{"Origin": s.origin}, http.StatusForbidden},
		"reading what changes":        {http.MethodGet, header{"Path": "/interrupt"}, http.StatusNotFound},
	} {
		s.conv.done()
		path := d.session()
		if c.method != http.MethodGet {
			path += "/interrupt"
		}
		req := d.as(c.method, path+c.header["Path"], nil)
		for k, v := range c.header {
			switch {
			case k == "Host":
				req.Host = v
			case k == "Path":
			case v == "":
				req.Header.Del(k)
			default:
				req.Header.Set(k, v)
			}
		}
		res := s.send(req)
		if c.want == http.StatusNotFound && res.StatusCode == http.StatusMethodNotAllowed {
			res.StatusCode = http.StatusNotFound
		}
		if res.StatusCode != c.want {
			t.Errorf("%s: %s", name, res.Status)
		}
		if did := s.conv.done(); (did != "") != (c.want == http.StatusSeeOther) {
			t.Errorf("%s did %q", name, did)
		}
		for k := range res.Header {
			if strings.HasPrefix(k, "Access-Control-") {
				t.Errorf("%s: %s", name, k)
			}
		}
		if h := res.Header; h.Get("X-Frame-Options") != "DENY" || !strings.Contains(h.Get("Content-Security-Policy"), "frame-ancestors 'none'") || strings.Contains(h.Get("Content-Security-Policy"), "unsafe") {
			t.Errorf("%s: %v", name, h)
		}
	}
}

// TestAWatchingDeviceChangesNothing, whatever it sends, and is offered nothing.
func TestAWatchingDeviceChangesNothing(t *testing.T) {
	s := newStage(t)
	d := s.pair(remote.Watch)
	s.conv.Emit(event.ApprovalAsked{ID: "a1", Question: tools.Question{Title: "Run it", Options: []tools.AnswerOption{{Scope: tools.AnswerOnce, Label: "once"}}}})
	if page := d.show(); !strings.Contains(page, "Run it") || strings.Contains(page, "<form") {
		t.Errorf("it is offered something: %s", page)
	}
	for _, what := range []string{"answer", "prompt", "interrupt", "set", "reply", "fill", "unqueue"} {
		res := s.send(d.as(http.MethodPost, d.session()+"/"+what, url.Values{"id": {"a1"}, "option": {"0"}, "text": {"x"}, "mode": {"ask"}}))
		if res.StatusCode != http.StatusForbidden {
			t.Errorf("%s: %s", what, res.Status)
		}
	}
	if did := s.conv.done(); did != "" {
		t.Errorf("it did %q", did)
	}
}

// TestStrangersCantHoldThePageUp: headers that never end, many connections, bodies and headers that are too big.
func TestStrangersCantHoldThePageUp(t *testing.T) {
	s := newStage(t)
	d := s.pair(remote.Control)
	host := strings.TrimPrefix(s.origin, "http://")
	var open []net.Conn
	closed := 0
	for range 300 {
		nc, err := net.Dial("tcp", host)
		if err != nil {
			closed++
			continue
		}
		defer nc.Close()
		if _, err := io.WriteString(nc, "GET / HTTP/1.1\r\nHost: "+host+"\r\n"); err != nil { // and never more
			closed++
			continue
		}
		open = append(open, nc)
	}
	for _, nc := range open {
		if err := nc.SetReadDeadline(time.Now().Add(patience)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, nc); err != nil && strings.Contains(err.Error(), "timeout") {
			t.Fatal("a connection that never says what it wants is kept")
		}
	}
	if res := s.send(d.as(http.MethodGet, d.session(), nil)); res.StatusCode != http.StatusOK {
		t.Errorf("afterwards: %s", res.Status)
	}
	big := url.Values{"text": {strings.Repeat("x", 5<<20)}}
	if res := s.send(d.as(http.MethodPost, d.session()+"/prompt", big)); res.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("a body of 5 MB: %s", res.Status)
	}
	if res := s.send(s.request(http.MethodPost, "/pair", url.Values{"code": {strings.Repeat("x", 1<<20)}})); res.StatusCode != http.StatusBadRequest {
		t.Errorf("a code of 1 MB: %s", res.Status)
	}
	req := d.as(http.MethodGet, d.session(), nil)
	req.Header.Set("X-Big", strings.Repeat("x", 100<<10))
	if res, err := http.DefaultTransport.RoundTrip(req); err == nil { // or it hangs up
		if res.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
			t.Errorf("a header of 100 KB: %s", res.Status)
		}
		if err := res.Body.Close(); err != nil {
			t.Error(err)
		}
	}
	if did := s.conv.done(); did != "" {
		t.Errorf("it did %q", did)
	}
	var streams []*stream
	for range 40 {
		streams = append(streams, d.stream(""))
	}
	refused := 0
	for _, out := range streams {
		if _, ok := out.next(); !ok {
			refused++
		}
		out.close()
	}
	if refused == 0 || refused == len(streams) {
		t.Errorf("%d of %d streams of a device are refused", refused, len(streams))
	}
}

// TestRevokingEndsAStreamAndWhatTheKeyOpens.
func TestRevokingEndsAStreamAndWhatTheKeyOpens(t *testing.T) {
	s := newStage(t)
	d, other := s.pair(remote.Control), s.pair(remote.Control)
	out, kept := d.stream(""), other.stream("")
	defer out.close()
	defer kept.close()
	for _, st := range []*stream{out, kept} {
		if _, ok := st.next(); !ok {
			t.Fatal("nothing is streamed")
		}
	}
	if gone, err := s.devices.Revoke("phone", false); err != nil || len(gone) != 1 {
		t.Fatal(gone, err)
	}
	for ok := true; ok; { // it ends
		_, ok = out.next()
	}
	s.conv.Emit(event.Notice{Text: "after"})
	for {
		html, ok := kept.next()
		if !ok {
			t.Fatal("the other device's stream has ended")
		}
		if strings.Contains(html, "after") {
			break
		}
	}
	for _, req := range []*http.Request{d.as(http.MethodGet, d.session(), nil), d.as(http.MethodPost, d.session()+"/prompt", url.Values{"text": {"x"}})} {
		if res := s.send(req); res.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s afterwards: %s", req.Method, res.Status)
		}
	}
	if did := s.conv.done(); did != "" {
		t.Errorf("it did %q", did)
	}
}
