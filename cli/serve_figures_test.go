//go:build linux

package cli_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"jcode/internal/testkit/modeltest"
	"jcode/remote"
	"jcode/session"
)

// TestALongSessionInABrowser: of 5,000 messages that are kept the last ones are shown, and earlier ones on demand; what
// happens comes to the page. How long both take is logged.
func TestALongSessionInABrowser(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	c := newChat(t, modeltest.Text("Hello."))
	c.start()
	c.say("hi")
	c.wait("Hello.")
	c.idle()
	c.quit()
	c.lengthen(5000)
	c.startAt("answer 4999", "-c")
	s := c.serve()
	b.do(chromedp.Navigate(s.address), chromedp.WaitVisible(`input[name=code]`), chromedp.SendKeys(`input[name=code]`, s.code+kb.Enter), chromedp.WaitVisible(`.sessions a`))
	address := value[string](b, `document.querySelector(".sessions a").href`)
	list := value[string](b, `location.origin + "/"`)
	opens := func(what, address, text string) {
		b.do(chromedp.Navigate("about:blank"), chromedp.Navigate(address))
		b.shows(text)
		b.is(`performance.getEntriesByName("first-contentful-paint").length > 0 && performance.getEntriesByType("navigation")[0].loadEventEnd > 0`)
		t.Logf("%s: answered after %.0f ms, first paint after %.0f ms, loaded after %.0f ms", what, value[float64](b, `performance.getEntriesByType("navigation")[0].responseEnd`),
			value[float64](b, `performance.getEntriesByName("first-contentful-paint")[0].startTime`), value[float64](b, `performance.getEntriesByType("navigation")[0].loadEventEnd`))
	}
	for range 3 {
		opens("one line of text", "data:text/html,<p>hello", "hello")
		opens("the sessions", list, "jcode")
		opens("5,000 messages", address, "answer 4999")
	}
	b.do(chromedp.Click(`#earlier a`))
	b.shows("answer 4879")

	b.is(`(window.seen = {}, new MutationObserver(() => { for (const w of document.querySelector("#log").lastElementChild.textContent.match(/no-model-\d+/g) || []) window.seen[w] ??= Date.now(); }).observe(document.querySelector("#log"), { childList: true, subtree: true, characterData: true }), true)`)
	all, err := remote.Place{Dir: filepath.Join(c.home, "run")}.Processes(t.Context(), "test")
	if err != nil || len(all) != 1 || len(all[0].Sessions) != 1 {
		t.Fatalf("%+v %v", all, err)
	}
	id := all[0].Sessions[0].SessionID
	client, err := remote.Place{Dir: filepath.Join(c.home, "run")}.Open(t.Context(), "test", id, remote.Handlers{})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if err := client.Call(t.Context(), "attach", remote.Attach{Session: id, Role: remote.Control, Recent: 1}, nil); err != nil {
		t.Fatal(err)
	}
	var total, worst time.Duration
	const times = 10
	for i := range times {
		began := time.Now()
		if err := client.Call(t.Context(), "set", remote.Set{Session: id, Model: fmt.Sprint("no-model-", i)}, nil); err != nil {
			t.Fatal(err)
		}
		b.is(fmt.Sprintf(`window.seen["no-model-%d"]`, i))
		took := time.UnixMilli(value[int64](b, fmt.Sprintf(`window.seen["no-model-%d"]`, i))).Sub(began)
		total, worst = total+took, max(worst, took)
	}
	t.Logf("from the call of a client to the page: %s in the mean, %s at most", total/times, worst)
	c.quit()
}

// lengthen adds messages to the only session.
func (c *chat) lengthen(messages int) {
	c.t.Helper()
	store, err := session.Open(c.t.Context(), filepath.Join(c.home, "jcode.db"), session.Options{})
	if err != nil {
		c.t.Fatal(err)
	}
	defer func() {
		if err := store.Close(); err != nil {
			c.t.Error(err)
		}
	}()
	list, err := store.List(c.t.Context(), session.Filter{All: true})
	if err != nil || len(list) != 1 {
		c.t.Fatalf("%+v %v", list, err)
	}
	for i := range messages {
		m := session.Message{Session: list[0].ID, Role: session.RoleUser, Parts: []session.Part{{Kind: session.PartText, Text: fmt.Sprintf("question %d about some part of the code", i)}}}
		if i%2 == 1 {
			m.Role = session.RoleAssistant
			m.Parts[0].Text = fmt.Sprintf("answer %d: some *words* with `code` and a list\n\n- one\n- two\n", i)
		}
		if _, err := store.History().Append(c.t.Context(), m); err != nil {
			c.t.Fatal(err)
		}
	}
}
