package web_test

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"jcode/tools"
	"jcode/tools/builtin/web"
	"jcode/tools/permission"
)

// site is a server on the loopback interface and a fetch tool behind a real gate.
type site struct {
	t     *testing.T
	url   string
	tool  tools.Tool
	gate  *permission.Gate
	asked []string
	say   func(tools.Question) tools.AnswerScope
	hosts map[string]string // name to address
}

func newSite(t *testing.T, pages map[string]http.HandlerFunc) *site {
	t.Helper()
	mux := http.NewServeMux()
	for path, h := range pages {
		mux.HandleFunc(path, h)
	}
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	w := &site{t: t, url: srv.URL, hosts: map[string]string{}, say: func(tools.Question) tools.AnswerScope { return tools.AnswerOnce }}
	gate, err := permission.New(permission.Options{Places: permission.Places{Roots: []string{t.TempDir()}}})
	if err != nil {
		t.Fatal(err)
	}
	w.gate = gate
	w.tool = web.Fetch(web.FetchOptions{
		Judge: (&tools.Dispatcher{Gate: gate}).JudgeCall,
		Proxy: func(*http.Request) (*url.URL, error) { return nil, nil },
		Lookup: func(_ context.Context, host string) ([]netip.Addr, error) {
			var out []netip.Addr
			for _, s := range strings.Fields(w.hosts[host]) {
				out = append(out, netip.MustParseAddr(s))
			}
			if out == nil {
				return nil, errors.New("no such host: " + host)
			}
			return out, nil
		},
	})
	return w
}

// Ask implements tools.Asker.
func (w *site) Ask(_ context.Context, q tools.Question) (tools.Answer, error) {
	w.asked = append(w.asked, q.Command+" "+strings.Join(q.Details, "; "))
	return tools.Answer{Scope: w.say(q), Option: -1}, nil
}

// get does what the dispatcher does: plan, gate, run.
func (w *site) get(args map[string]any) (tools.Result, error) {
	w.t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		w.t.Fatal(err)
	}
	call := tools.Call{ID: "c", Name: "fetch", Arguments: raw, Caller: tools.Caller{Session: "s", Asker: w}, Progress: func(tools.Progress) {}}
	plan, err := w.tool.(tools.Planner).Plan(context.Background(), call)
	if err != nil {
		return tools.Result{}, err
	}
	if d := w.gate.Check(context.Background(), tools.GateRequest{Spec: w.tool.Spec(), Call: call, Plan: plan}); !d.Allow {
		return tools.Result{}, errors.New(d.Reason)
	}
	return w.tool.Run(context.Background(), call)
}

func (w *site) port() string {
	u, err := url.Parse(w.url)
	if err != nil {
		w.t.Fatal(err)
	}
	return u.Port()
}

func body(kind, text string) http.HandlerFunc {
	return func(rw http.ResponseWriter, _ *http.Request) {
		if kind != "" {
			rw.Header().Set("Content-Type", kind)
		}
		fmt.Fprint(rw, text)
	}
}

func TestFetchGivesPagesAsText(t *testing.T) {
	w := newSite(t, map[string]http.HandlerFunc{
		"/html":   body("text/html; charset=utf-8", `<html><head><title>The Title</title><style>x{}</style></head><body><script>evil()</script><h2>Head</h2><p>Some <b>bold</b> <a href="/rel">link</a></p><table><tr><th>a</th></tr><tr><td>b</td></tr></table></body></html>`),
		"/json":   body("application/json", `{"a": [1, 2]}`),
		"/plain":  body("text/plain", "just\x1b[2J text\r\n"),
		"/latin":  body("text/html; charset=iso-8859-1", "<p>caf\xe9</p>"),
		"/meta":   body("text/html", "<meta charset=windows-1251><p>\xcf\xf0</p>"),
		"/none":   body("", "<!doctype html><p>sniffed</p>"),
		"/badenc": body("text/plain; charset=klingon", "ok \xff"),
		"/empty":  body("text/html", ""),
		"/zip": func(rw http.ResponseWriter, r *http.Request) {
			rw.Header().Set("Content-Encoding", "gzip")
			rw.Header().Set("Content-Type", "text/plain")
			z := gzip.NewWriter(rw)
			fmt.Fprint(z, "unzipped")
			z.Close()
		},
	})
	for path, want := range map[string][]string{
		"/html":   {"# The Title", "## Head", "Some **bold** [link](" + w.url + "/rel)", "| a"},
		"/json":   {`{"a": [1, 2]}`},
		"/plain":  {"just text\n"},
		"/latin":  {"café"},
		"/meta":   {"Пр"},
		"/none":   {"sniffed"},
		"/badenc": {"ok \u00ff"},
		"/empty":  {"(the page contains no text)"},
		"/zip":    {"unzipped"},
	} {
		res, err := w.get(map[string]any{"url": w.url + path})
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		for _, s := range want {
			if !strings.Contains(res.Text, s) {
				t.Errorf("%s: %q lacks %q", path, res.Text, s)
			}
		}
		if strings.Contains(res.Text, "evil") || strings.Contains(res.Text, "\x1b") || !utf8.ValidString(res.Text) {
			t.Errorf("%s: %q", path, res.Text)
		}
	}
	for format, want := range map[string]string{"text": "Head\nSome bold link\na\nb", "html": "<script>evil()</script>"} {
		res, err := w.get(map[string]any{"url": w.url + "/html", "format": format})
		if err != nil || !strings.Contains(res.Text, want) {
			t.Errorf("%s: %q %v", format, res.Text, err)
		}
	}
}

func TestFetchIsBounded(t *testing.T) {
	w := newSite(t, map[string]http.HandlerFunc{
		"/big": body("text/plain", strings.Repeat("漢字", 100_000)),
		"/huge": func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Content-Type", "text/plain")
			for range 20 {
				if _, err := rw.Write(make([]byte, 1<<20)); err != nil {
					return
				}
			}
		},
		"/deep": body("text/html", strings.Repeat("<div>", 50_000)+"x"),
	})
	res, err := w.get(map[string]any{"url": w.url + "/big"})
	if err != nil || len(res.Text) > 101<<10 || !strings.Contains(res.Text, "of 600000 bytes are shown") || !utf8.ValidString(res.Text) {
		t.Errorf("%d bytes, %v", len(res.Text), err)
	}
	if _, err := w.get(map[string]any{"url": w.url + "/huge"}); err != nil {
		t.Error(err)
	}
	if _, err := w.get(map[string]any{"url": w.url + "/deep"}); err != nil && !strings.Contains(err.Error(), "read page") {
		t.Error(err)
	}
}

func TestFetchTellsWhatWentWrong(t *testing.T) {
	w := newSite(t, map[string]http.HandlerFunc{
		"/404":  func(rw http.ResponseWriter, _ *http.Request) { http.Error(rw, "gone fishing", 404) },
		"/bin":  body("application/zip", "PK\x03\x04"),
		"/loop": func(rw http.ResponseWriter, r *http.Request) { http.Redirect(rw, r, "/loop", 302) },
		"/file": func(rw http.ResponseWriter, r *http.Request) {
			rw.Header().Set("Location", "file:///etc/passwd")
			rw.WriteHeader(302)
		},
	})
	for in, want := range map[string]string{
		w.url + "/404":              "404 Not Found:\ngone fishing",
		w.url + "/bin":              "is application/zip, not text",
		w.url + "/loop":             "more than 10 redirects",
		w.url + "/file":             "only http and https",
		"file:///etc/passwd":        "only http and https",
		"gopher://x":                "only http and https",
		"http://":                   "no host",
		"http://u:p@example.com":    "user name",
		"http://127.0.0.1:1/":       "fetch: ",
		"https://exa\u202emple.com": "not a valid name",
	} {
		_, err := w.get(map[string]any{"url": in})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", in, err, want)
		}
	}
}

func TestFetchAsksAgainAtEachNewPlace(t *testing.T) {
	w := newSite(t, map[string]http.HandlerFunc{
		"/same":    func(rw http.ResponseWriter, r *http.Request) { http.Redirect(rw, r, "/end", 301) },
		"/end":     body("text/plain", "the end"),
		"/private": body("text/plain", "secret"),
	})
	w.hosts["public.example"] = "127.0.0.1"
	if res, err := w.get(map[string]any{"url": w.url + "/same"}); err != nil || !strings.Contains(res.Text, "the end") || len(w.asked) != 1 {
		t.Errorf("%v, asked %q", err, w.asked)
	}
	// A public name that leads to the loopback interface: two questions, the second as private.
	w.asked = nil
	if res, err := w.get(map[string]any{"url": "http://public.example:" + w.port() + "/private"}); err != nil || !strings.Contains(res.Text, "secret") {
		t.Errorf("%v", err)
	}
	if len(w.asked) != 2 || !strings.Contains(w.asked[1], "leads to the private address 127.0.0.1") {
		t.Errorf("asked %q", w.asked)
	}
	// If it is refused, there is no connection.
	w.asked = nil
	w.say = func(q tools.Question) tools.AnswerScope {
		if strings.Contains(strings.Join(q.Details, " "), "private") {
			return tools.AnswerNo
		}
		return tools.AnswerOnce
	}
	if _, err := w.get(map[string]any{"url": "http://public.example:" + w.port() + "/private"}); err == nil || !strings.Contains(err.Error(), "denied by user") {
		t.Errorf("%v", err)
	}
	// A name with a public and a private address is private.
	w.hosts["mixed.example"] = "93.184.216.34 127.0.0.1"
	if _, err := w.get(map[string]any{"url": "http://mixed.example:" + w.port() + "/private"}); err == nil || !strings.Contains(err.Error(), "denied by user") {
		t.Errorf("%v", err)
	}
}

func TestFetchRedirectIntoAPrivateNetworkAsks(t *testing.T) {
	w := newSite(t, map[string]http.HandlerFunc{"/end": body("text/plain", "secret")})
	out := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		http.Redirect(rw, r, "http://meta.example:"+w.port()+"/end", 302)
	}))
	defer out.Close()
	w.hosts["meta.example"] = "127.0.0.1"
	w.say = func(q tools.Question) tools.AnswerScope {
		if strings.Contains(q.Command, "meta.example") && strings.Contains(strings.Join(q.Details, " "), "private address") {
			return tools.AnswerNo
		}
		return tools.AnswerOnce
	}
	_, err := w.get(map[string]any{"url": out.URL})
	if err == nil || !strings.Contains(err.Error(), "denied by user") || len(w.asked) != 3 {
		t.Errorf("%v, asked %q", err, w.asked)
	}
}

func TestFetchDoesNotLookUpTwice(t *testing.T) {
	// Rebinding: the first answer of DNS is judged and used, and no second one is requested.
	lookups := 0
	w := newSite(t, map[string]http.HandlerFunc{"/": body("text/plain", "x")})
	tool := web.Fetch(web.FetchOptions{
		Proxy: func(*http.Request) (*url.URL, error) { return nil, nil },
		Lookup: func(context.Context, string) ([]netip.Addr, error) {
			lookups++
			return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
		},
	})
	raw, err := json.Marshal(map[string]any{"url": "http://rebind.example:" + w.port()})
	if err != nil {
		t.Fatal(err)
	}
	_, err = tool.Run(context.Background(), tools.Call{Arguments: raw})
	if err == nil || !strings.Contains(err.Error(), "private address 127.0.0.1") || lookups != 1 {
		t.Errorf("%v after %d lookups", err, lookups)
	}
}

func TestFetchEndsWithItsContext(t *testing.T) {
	started := make(chan struct{})
	stop := make(chan struct{})
	w := newSite(t, map[string]http.HandlerFunc{"/slow": func(http.ResponseWriter, *http.Request) { close(started); <-stop }})
	defer close(stop)
	ctx, cancel := context.WithCancel(context.Background())
	go func() { <-started; cancel() }()
	raw, err := json.Marshal(map[string]any{"url": w.url + "/slow"})
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if _, err := w.tool.Run(ctx, tools.Call{Arguments: raw}); !errors.Is(err, context.Canceled) || time.Since(began) > time.Minute {
		t.Errorf("%v after %v", err, time.Since(began))
	}
}

func FuzzFetchAddress(f *testing.F) {
	for _, s := range []string{"http://a", "https://[::1]:80/x?y#z", "http://a@b", "//x", "http://127.1", "x", "http://ü.de:1"} {
		f.Add(s)
	}
	tool := web.Fetch(web.FetchOptions{})
	f.Fuzz(func(t *testing.T, s string) {
		raw, err := json.Marshal(map[string]any{"url": s})
		if err != nil {
			t.Skip()
		}
		plan, err := tool.(tools.Planner).Plan(context.Background(), tools.Call{Arguments: raw})
		if err == nil && !strings.HasPrefix(plan.Accesses[0].URL, "http") {
			t.Errorf("%q became %q", s, plan.Accesses[0].URL)
		}
	})
}
