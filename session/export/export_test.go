package export_test

import (
	"context"
	"encoding/json"
	"flag"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	nethtml "golang.org/x/net/html"

	"jcode/session"
	"jcode/session/export"
)

var update = flag.Bool("update", false, "write the golden files anew")

// evil is text that tries to run as a script.
const evil = "<script src=https://evil.example/x.js></script>\x1b[2J <img src=x onerror=alert(1)> [a](javascript:alert(1)) ![pic](https://evil.example/p.png)"

func sample() export.Document {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	text := func(s string) session.Part { return session.Part{Kind: session.PartText, Text: s} }
	png := session.Part{Kind: session.PartImage, MIME: "image/png", Data: []byte("\x89PNG\r\n")}
	svg := session.Part{Kind: session.PartImage, MIME: "image/svg+xml", Data: []byte("<svg onload=alert(1)/>")}
	child := session.Session{ID: "child", Title: "look for callers", Kind: session.KindTask, Created: at, Updated: at}
	return export.Document{
		Session: session.Session{
			ID: "0190-1", Title: "Fix <the> parser", Cwd: "/w/p", Model: "openai/gpt-5", Mode: "ask", RoleName: "coder", Created: at, Updated: at.Add(time.Hour),
			Messages: 3, InputTokens: 1200, OutputTokens: 300, CachedTokens: 1000, Cost: 0.0123,
		},
		Messages: []session.Message{
			{Seq: 1, Role: session.RoleUser, Parts: []session.Part{text("Please fix `parse`.\n\n    keep my blanks\n" + evil), png, svg}, Created: at},
			{
				Seq: 2, Role: session.RoleAssistant, Created: at, Usage: &session.Usage{Input: 10, Output: 5}, Archived: 4,
				Parts: []session.Part{{Kind: session.PartReasoning, Text: "First I read it.\nThen I edit."}, text("# Done\n\n```go\nfunc main() { // start\n\tprintln(\"<a>\", 42)\n}\n```\n\n<div onclick=x>raw</div>\n\nSee " + evil + "\n\n" + evil + "\n\n| a | b |\n|---|---|\n| 1 | 2 |\n")},
				Calls: []session.Call{
					{Seq: 2, Index: 0, ID: "c1", Name: "edit", Arguments: `{"path":"a.go","old_string":"x"}`, Status: session.StatusDone, Result: "ok ``` and ````", Display: json.RawMessage(`{"summary":"+1 -1","diff":"--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n"}`), Started: at, Ended: at.Add(1500 * time.Millisecond)},
					{Seq: 2, Index: 1, ID: "c2", Name: "exec", Arguments: `{"cmd": "ls`, Status: session.StatusFailed, Result: "\x1b[31mred\x1b[0m\xff"},
				},
			},
			{Seq: 3, Broken: "message 3 can't be read: cut"},
			{Seq: 4, Role: session.RoleSummary, Parts: []session.Part{text("It was fixed.")}, Created: at},
			{Seq: 5, Role: session.RoleSystem, Parts: []session.Part{text("tool `x` appeared")}, Created: at},
		},
		Tasks: []export.Document{{Session: child, Messages: []session.Message{{Seq: 1, Role: session.RoleUser, Parts: []session.Part{text("find them")}, Created: at}}}},
	}
}

func written(t *testing.T, f export.Format) string {
	t.Helper()
	got, err := export.Render(f, sample())
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestExportsAreAsReviewed(t *testing.T) {
	for _, f := range []export.Format{export.Markdown, export.JSON, export.HTML} {
		t.Run(string(f), func(t *testing.T) {
			golden := filepath.Join("testdata", "sample."+string(f))
			got := written(t, f)
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != strings.ReplaceAll(string(want), "\r\n", "\n") {
				t.Errorf("differs from %s; run with -update and review the change:\n%s", golden, got)
			}
		})
	}
}

func TestHTMLRunsAndLoadsNothing(t *testing.T) {
	page := written(t, export.HTML)
	root, err := nethtml.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	policy, coloured := false, 0
	for n := range root.Descendants() {
		if n.Type != nethtml.ElementNode {
			continue
		}
		switch n.Data {
		case "script", "iframe", "object", "embed", "link", "base", "form", "svg", "video", "audio":
			t.Errorf("the page has a %s element", n.Data)
		}
		for _, a := range n.Attr {
			v := strings.ToLower(strings.TrimSpace(a.Val))
			switch {
			case strings.HasPrefix(a.Key, "on"), a.Key == "style", a.Key == "srcset":
				t.Errorf("%s has attribute %s", n.Data, a.Key)
			case a.Key == "src" && !strings.HasPrefix(v, "data:image/png;base64,"):
				t.Errorf("%s loads %s", n.Data, a.Val)
			case a.Key == "href" && !strings.HasPrefix(v, "https://") && v != "":
				t.Errorf("%s leads to %s", n.Data, a.Val)
			case a.Key == "http-equiv" && v == "content-security-policy":
				policy = true
			case n.Data == "span" && a.Key == "class":
				coloured++
			}
		}
	}
	if !policy {
		t.Error("the page has no content security policy")
	}
	if coloured < 5 {
		t.Errorf("%d coloured pieces of code", coloured)
	}
	if strings.Contains(page, "\x1b") {
		t.Error("the page holds control sequences")
	}
}

func TestHTMLRendersInABrowser(t *testing.T) {
	browser := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "headless_shell"} {
		if p, err := exec.LookPath(name); err == nil {
			browser = p
			break
		}
	}
	if browser == "" {
		t.Skip("no Chromium here")
	}
	path := filepath.Join(t.TempDir(), "s.html")
	if err := export.WriteFile(path, export.HTML, sample()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, browser, "--headless", "--user-data-dir="+t.TempDir(), "--no-sandbox", "--disable-gpu", "--dump-dom", "file://"+path).Output()
	if err != nil {
		t.Skipf("%s doesn't run here: %v", browser, err)
	}
	if dom := string(out); !strings.Contains(dom, `<span class="k">func</span>`) || !strings.Contains(dom, "Fix &lt;the&gt; parser") {
		t.Errorf("the page renders as\n%s", dom)
	}
}

func TestJSONIsOneObjectWithEverything(t *testing.T) {
	var got struct {
		Version  int
		Session  map[string]any
		Messages []struct {
			Seq   int
			Calls []struct {
				Arguments    json.RawMessage
				RawArguments string `json:"raw_arguments"`
				Result       string
			} `json:"tool_calls"`
			Broken string
		}
		Tasks []any
	}
	if err := json.Unmarshal([]byte(written(t, export.JSON)), &got); err != nil {
		t.Fatal(err)
	}
	if got.Version != 1 || got.Session["title"] != "Fix <the> parser" || len(got.Messages) != 5 || len(got.Tasks) != 1 {
		t.Errorf("got %+v", got)
	}
	if c := got.Messages[1].Calls; c[1].RawArguments != `{"cmd": "ls` || len(c[1].Arguments) > 0 {
		t.Errorf("calls %+v", c)
	}
}

func TestExportReplacesOnlyAnExport(t *testing.T) {
	for _, name := range []string{"talk.md", "talk.json", "talk.html"} {
		path := filepath.Join(t.TempDir(), name)
		format, err := export.FormatOf(path)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // the second replaces the first
			if err := export.WriteFile(path, format, sample()); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := os.WriteFile(path, []byte("# Notes of my own\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := export.WriteFile(path, format, sample()); err == nil || !strings.Contains(err.Error(), "choose another name") {
			t.Errorf("%s: %v", name, err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != "# Notes of my own\n" {
			t.Errorf("%s is now %q, %v", name, got, err)
		}
	}
}

func TestFormatOfFileNames(t *testing.T) {
	for name, want := range map[string]export.Format{"a": export.Markdown, "a.MD": export.Markdown, "a.json": export.JSON, "x/y.htm": export.HTML, "a.pdf": ""} {
		got, err := export.FormatOf(name)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
}

func TestLoadFollowsSubAgents(t *testing.T) {
	s, err := session.Open(t.Context(), filepath.Join(t.TempDir(), "jcode.db"), session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	parent, err := s.Create(t.Context(), session.Session{ProjectID: "p", Title: "parent"})
	if err != nil {
		t.Fatal(err)
	}
	for _, title := range []string{"one", "two"} {
		if _, err := s.Create(t.Context(), session.Session{ProjectID: "p", Title: title, Kind: session.KindTask, ParentID: parent.ID}); err != nil {
			t.Fatal(err)
		}
	}
	d, err := export.Load(t.Context(), s, parent.ID)
	if err != nil || len(d.Tasks) != 2 || d.Tasks[0].Session.Title != "one" {
		t.Errorf("%+v, %v", d, err)
	}
	if _, err := export.Load(t.Context(), s, "none"); err == nil {
		t.Error("a missing session was loaded")
	}
}

func FuzzColourKeepsEveryByte(f *testing.F) {
	f.Add("go", "func f() { /* x */ s := `a` + \"b\\\"\" // é\n")
	f.Add("python", "'''a\nb''' # c\nx = 'don")
	f.Add("diff", "--- a\n+++ b\n@@ -1 @@\n-x\n+y")
	f.Add("rust", "fn f<'a>(x: &'a str) {}")
	f.Add("lua", "--[[ x ]] local s = [[y")
	f.Add("json", "{\"a\": [1.5e3, true, '\xff\\")
	f.Fuzz(func(t *testing.T, lang, source string) {
		got := export.Colour(lang, source)
		root, err := nethtml.Parse(strings.NewReader("<pre>" + got))
		if err != nil {
			t.Fatal(err)
		}
		for n := range root.Descendants() {
			if n.Type == nethtml.ElementNode && strings.Contains("html head body pre span", n.Data) == false {
				t.Fatalf("element %s in %q", n.Data, got)
			}
		}
		plain := got
		for _, c := range []string{"k", "s", "c", "n", "f", "a", "r"} {
			plain = strings.ReplaceAll(plain, `<span class="`+c+`">`, "")
		}
		plain = strings.ReplaceAll(plain, "</span>", "")
		if html.UnescapeString(plain) != html.UnescapeString(html.EscapeString(source)) {
			t.Fatalf("%q became %q", source, plain)
		}
	})
}
