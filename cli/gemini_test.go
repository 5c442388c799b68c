//go:build linux || darwin

package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"jcode/internal/testkit/geminitest"
)

// A session over generateContent: all of jcode's tools are declared as Google takes them, calls carry their signatures,
// and doctor finds its way.
func TestSessionOverGenerateContent(t *testing.T) {
	t.Parallel()
	const end = `{"candidates":[{"content":{"parts":[{"text":""}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":900,"cachedContentTokenCount":800,"candidatesTokenCount":5,"thoughtsTokenCount":5}}`
	say := func(text string) geminitest.Reply {
		return geminitest.Stream(fmt.Sprintf(`{"candidates":[{"content":{"parts":[{"text":%q}]}}]}`, text), end)
	}
	call := func(name, args string) geminitest.Reply {
		return geminitest.Stream(fmt.Sprintf(`{"candidates":[{"content":{"parts":[{"functionCall":{"name":%q,"args":%s},"thoughtSignature":"c2ln"}]}}]}`, name, args), end)
	}
	srv := geminitest.New(t, call("ls", `{"path":"."}`), call("read", `{"path":"a.txt"}`), say("It says one."), say("Still one."), say("ready"), call("report", `{"word":"ready"}`))
	c := newChat(t)
	c.write("a.txt", "one\n")
	if err := os.WriteFile(filepath.Join(c.home, "config.json"), fmt.Appendf(nil, `{"providers": {"gemini": {"base_url": %q, "protocol": "gemini"}}}`, srv.URL), 0o600); err != nil {
		t.Fatal(err)
	}
	c.env = append(c.env, "OPENAI_BASE_URL=", "GEMINI_API_KEY="+geminitest.Key, "JCODE_MODEL=gemini/gemini-3.1-pro")
	for _, s := range []struct {
		args []string
		want string
	}{
		{[]string{"-p", "what does it say?"}, "It says one."}, {[]string{"-c", "-p", "and now?"}, "Still one."}, {[]string{"doctor"}, "calls tools"},
	} {
		if out, err := c.command("jcode", s.args...).CombinedOutput(); !strings.Contains(string(out), s.want) {
			t.Fatalf("%v: %v\n%s\nrefused: %q", s.args, err, out, srv.Refused())
		}
	}
	if got := srv.Refused(); len(got) > 0 {
		t.Errorf("refused: %q", got)
	}
	if last := srv.Raws()[3]; strings.Count(last, `"thoughtSignature":"c2ln"`) != 2 || !strings.Contains(last, "It says one.") {
		t.Errorf("%s", last)
	}
}
