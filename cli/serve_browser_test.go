//go:build linux

package cli_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"jcode/internal/testkit/eventually"
	"jcode/internal/testkit/modeltest"
)

// browser is a Chromium with one tab.
type browser struct {
	t   *testing.T
	ctx context.Context
}

func newBrowser(t *testing.T) *browser {
	t.Helper()
	program := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "headless_shell"} {
		if p, err := exec.LookPath(name); err == nil {
			program = p
			break
		}
	}
	if program == "" {
		t.Skip("no Chromium here: scripts/install-browser brings it")
	}
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.UserDataDir(t.TempDir()), chromedp.NoSandbox, chromedp.Flag("hide-scrollbars", true))
	ctx, end := chromedp.NewExecAllocator(t.Context(), opts...)
	t.Cleanup(end)
	ctx, end = chromedp.NewContext(ctx)
	t.Cleanup(end)
	ctx, end = context.WithTimeout(ctx, 2*patience)
	t.Cleanup(end)
	b := &browser{t, ctx}
	b.do(chromedp.EmulateViewport(1100, 800))
	return b
}

// do takes steps. One whose element is drawn anew while it is looked at is taken again.
func (b *browser) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	for _, step := range steps {
		err := chromedp.Do(b.ctx, step)
		for deadline := time.Now().Add(patience); err != nil && strings.Contains(err.Error(), "Could not find node") && time.Now().Before(deadline); {
			err = chromedp.Do(b.ctx, step)
		}
		if err != nil {
			b.fail(err)
		}
	}
}

// fail ends the test with what the page is.
func (b *browser) fail(err error) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, 5*time.Second)
	defer cancel()
	html, _ := chromedp.Run(ctx, chromedp.OuterHTML("html")) // for the message only
	b.t.Fatalf("%v\n%s", err, html)
}

// value evaluates an expression in the page.
func value[T any](b *browser, expr string) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expr))
	if err != nil {
		b.fail(err)
	}
	return v
}

// shows waits until the page has all texts.
func (b *browser) shows(texts ...string) {
	b.t.Helper()
	for _, text := range texts {
		b.is(`document.body.innerText.includes(` + quoted(text) + `)`)
	}
}

// unanswered is how long the browser may take to answer: of a page that is being left no answer may come at all.
const unanswered = 10 * time.Second

// is waits until an expression is true. While a page is being left there is nothing to ask.
func (b *browser) is(expr string) {
	b.t.Helper()
	var last error
	if !eventually.Holds(patience, func() (yes bool) {
		ctx, cancel := context.WithTimeout(b.ctx, unanswered)
		defer cancel()
		yes, last = chromedp.Run(ctx, chromedp.Evaluate[bool](`!!(`+expr+`)`))
		return yes
	}) {
		b.fail(fmt.Errorf("never true: %s (%w)", expr, last))
	}
}

func quoted(s string) string { return "`" + strings.ReplaceAll(s, "`", "\\`") + "`" }

// picture writes what is seen, where JCODE_PICTURES names a folder.
func (b *browser) picture(name string) {
	b.t.Helper()
	dir := os.Getenv("JCODE_PICTURES")
	if dir == "" {
		return
	}
	png, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		b.fail(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644); err != nil {
		b.t.Fatal(err)
	}
}

func scheme(name string) chromedp.Action[chromedp.Void] {
	return func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}}})
		return chromedp.Void{}, err
	}
}

// fits fails where the page is wider than the window.
func (b *browser) fits() {
	b.t.Helper()
	if over := value[int](b, `document.documentElement.scrollWidth - window.innerWidth`); over > 0 {
		b.t.Errorf("the page is %d pixels too wide", over)
	}
}

// TestThePageInABrowser: a device pairs, a prompt streams, a change is allowed, one refused with a word, a turn stopped, a
// prompt queued and taken out, the page reloaded in the middle; on a phone and in the dark.
func TestThePageInABrowser(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	edit := func(id, from, to string) modeltest.Reply {
		return modeltest.Calls(tool(id, "edit", map[string]any{"path": "greet.go", "old_string": from, "new_string": to}))
	}
	c := newChat(t,
		modeltest.Text("The greeting is in `greet.go`:\n\n", "```go\nfunc greet(name string) string {\n\treturn \"Hello, \" + name\n}\n```\n\n", "- it takes **one** name\n", "- it has no full stop\n\n", "Shall I change it?").Rate(20),
		modeltest.Calls(tool("p", "todo_write", map[string]any{"todos": []any{map[string]any{"text": "end the greeting with a full stop", "status": "in_progress"}, map[string]any{"text": "run the tests", "status": "pending"}}}), tool("e", "edit", map[string]any{"path": "greet.go", "old_string": "+ name", "new_string": "+ name + \".\""})),
		modeltest.Text("Done: the greeting ends with a full stop."),
		edit("f", "Hello", "Goodbye"),
		modeltest.Text("Understood, it stays as it is."),
		modeltest.Text("I count: ", "one ", "two ", "three ").SilenceAfter(3),
		modeltest.Text("Here I am again."))
	c.write("greet.go", "package greet\n\nfunc greet(name string) string {\n\treturn \"Hello, \" + name\n}\n")
	c.start()
	c.say("where is the greeting?")
	s := c.serve()
	b.do(chromedp.Navigate(s.address), chromedp.WaitVisible(`input[name=code]`), chromedp.SendKeys(`input[name=code]`, "wrong"+kb.Enter))
	b.shows("That is not the code.")
	b.do(chromedp.SendKeys(`input[name=code]`, s.code), chromedp.SendKeys(`input[name=name]`, "laptop"+kb.Enter))
	b.shows(c.dir)
	b.do(chromedp.Navigate(s.address)) // the device's folder is remembered
	b.shows(c.dir)
	b.picture("page-list")
	b.do(chromedp.Click(`.sessions a`))
	b.shows("where is the greeting?", "Shall I change it?")
	b.is(`document.querySelector("#log article.assistant pre .k") != null && !document.querySelector("#live .text[id^=l]")`)
	c.idle()

	say := func(text string) { b.do(chromedp.SendKeys(`#text`, text+kb.Enter)) }
	say("end it with a full stop")
	b.is(`document.querySelector("#asks button.once") != null && document.querySelector("#asks .a") != null && document.title.startsWith("●")`)
	b.shows("needs you", "Plan 0/2")
	b.picture("page-question")
	b.do(chromedp.EmulateViewport(360, 720), scheme("dark"))
	b.fits()
	b.picture("page-phone")
	b.do(chromedp.Click(`#asks button.once`))
	b.shows("Done: the greeting ends with a full stop.")
	b.is(`document.querySelector("#asks").hidden && document.querySelector("details.call.done .a") != null`)
	if !strings.Contains(c.read("greet.go"), `+ "."`) {
		t.Error("the file is not changed")
	}
	c.idle()
	b.fits()
	b.picture("page-dark")
	b.do(chromedp.EmulateViewport(1100, 800), scheme("light"))

	say("say goodbye instead")
	b.do(chromedp.WaitVisible(`#asks input[name=word]`), chromedp.SendKeys(`#asks input[name=word]`, "we greet"), chromedp.Click(`#asks button.no`))
	b.shows("Understood, it stays as it is.")
	if m, ok := c.last().Result("f"); !ok || !strings.Contains(m.Content, "we greet") {
		t.Errorf("the word: %+v", m)
	}
	c.idle()

	say("count")
	b.shows("I count: one")
	b.do(chromedp.Reload()) // in the middle
	b.shows("I count: one", "Understood, it stays as it is.", "working")
	say("and then?")
	b.is(`document.querySelector("#queue li") != null`)
	b.do(chromedp.Click(`#queue button`))
	b.is(`document.querySelector("#queue").hidden`)
	b.do(chromedp.Click(`button.stop`))
	b.shows("Interrupted.", "idle")
	if users := value[int](b, `document.querySelectorAll("article.user").length`); users != 4 {
		t.Errorf("%d prompts are shown", users)
	}
	c.idle()
	finger := func(kind string) {
		b.is(`(document.querySelector("#log").dispatchEvent(new PointerEvent("` + kind + `", { bubbles: true })), true)`)
	}
	finger("pointerdown") // nothing moves below a finger
	say("are you there?")
	c.wait("Here I am again.")
	c.idle()
	if value[bool](b, `document.body.innerText.includes("Here I am again.")`) {
		t.Error("the page is drawn anew while something is pressed")
	}
	finger("pointerup")
	b.shows("Here I am again.")

	b.do(chromedp.SendKeys(`#text`, "look at @gre"))
	b.is(`document.querySelector("#names [aria-selected=true]")?.textContent === "greet.go"`)
	b.do(chromedp.SendKeys(`#text`, kb.Tab))
	b.is(`document.querySelector("#text").value === "look at @greet.go " && document.querySelector("#names").hidden`)
	b.is(`(() => { const d = new DataTransfer(); d.items.add(new File([new Uint8Array(3)], "shot.png", { type: "image/png" })); document.querySelector("#text").dispatchEvent(new ClipboardEvent("paste", { clipboardData: d, bubbles: true })); return document.querySelector("#pictures").innerText.includes("shot.png"); })()`)
	b.do(chromedp.Click(`.prompt button.main`))
	b.shows("shot.png: it is not a PNG") // a picture that is none is refused by its name
	b.do(chromedp.Click(`#pictures button`))
	b.is(`document.querySelector("#pictures").hidden && document.querySelector("#said").hidden && document.querySelector("#text").value.startsWith("look at")`)
	b.do(chromedp.Click(`.foot a.open`))
	b.is(`document.querySelector("#dialog").open && document.querySelector("#dialog select[name=mode]") != null`)
	b.picture("page-more")
	b.do(chromedp.Click(`#dialog .close`), chromedp.EmulateViewport(360, 720))
	b.fits()
	b.do(chromedp.Click(`.foot a.open`))
	b.is(`document.querySelector("#dialog").open`)
	b.fits()
	b.do(chromedp.Click(`#dialog .close`), chromedp.EmulateViewport(1100, 800))
	b.is(`(() => { const all = document.querySelectorAll("article.user .who a.open"); all[all.length - 1].click(); return true; })()`)
	b.do(chromedp.WaitVisible(`#dialog button[name=what][value=""]`), chromedp.Click(`#dialog button[name=what][value=""]`))
	b.is(`document.querySelector("#text").value === "are you there?" && !document.querySelector("#log").innerText.includes("Here I am again.")`)

	nameless := value[[]string](b, `[...document.querySelectorAll("button, input:not([type=hidden]), textarea, select")].filter(e => !(e.textContent || e.getAttribute("aria-label") || e.closest("label") || document.querySelector("label[for='" + e.id + "']"))).map(e => e.outerHTML)`)
	if len(nameless) > 0 {
		t.Errorf("nameless for a screen reader: %q", nameless)
	}
	if out, err := c.jcode("", "serve", "revoke", "laptop"); err != nil {
		t.Errorf("%v %s", err, out)
	}
	b.do(chromedp.WaitVisible(`input[name=code]`))
	c.quit()
}
