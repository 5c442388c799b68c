package chat

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"jcode/agent/model/endpoint"
	"jcode/agent/model/provider"
)

// pieces is a body that is read in pieces of the given sizes, in a cycle.
type pieces struct {
	b     []byte
	sizes []int
	i     int
}

func (p *pieces) Read(to []byte) (int, error) {
	if len(p.b) == 0 {
		return 0, io.EOF
	}
	n := min(len(p.b), len(to), max(1, p.sizes[p.i%len(p.sizes)]))
	p.i++
	copy(to, p.b[:n])
	p.b = p.b[n:]
	return n, nil
}

func (p *pieces) Close() error { return nil }

// normal is the content of the normal form of a body.
type normal struct {
	text, reasoning string
	calls           []string
	usage           int
	finish          string
	done, faulted   bool
}

// watched returns an exchange whose silence limit is not reached during a test.
func watched(t testing.TB) *exchange {
	t.Helper()
	end, err := endpoint.New(provider.Config{BaseURL: "http://127.0.0.1/v1"})
	if err != nil {
		t.Fatal(err)
	}
	_, silent, stop := end.Watch(context.Background())
	t.Cleanup(stop)
	return &exchange{Exchange: &endpoint.Exchange{Silent: silent}}
}

func normalise(t testing.TB, contentType string, body []byte, sizes ...int) normal {
	t.Helper()
	x := watched(t)
	b := newNormalBody(&http.Response{Body: &pieces{b: bytes.Clone(body), sizes: sizes}, Header: http.Header{"Content-Type": {contentType}}}, x)
	b.pace.hot = -1 << 40 // all pieces are available at once; gathering them would only take time
	out, err := io.ReadAll(b)
	if err != nil && !x.HasFault() && !errors.Is(err, endpoint.ErrTooLarge) {
		t.Fatalf("read: %v", err)
	}
	n := normal{finish: x.Finish, done: x.sawDone, faulted: x.HasFault()}
	if x.counted {
		n.usage = 1
	}
	for _, line := range strings.Split(string(out), "\n") {
		if line == "" {
			continue
		}
		payload, ok := strings.CutPrefix(line, "data: ")
		if !ok || !json.Valid([]byte(payload)) {
			t.Fatalf("not the normal form: %q", line)
		}
		n.add(t, payload)
	}
	return n
}

func (n *normal) add(t testing.TB, payload string) {
	var c struct {
		Choices []struct {
			Delta struct {
				Content   json.RawMessage `json:"content"`
				Reasoning json.RawMessage `json:"reasoning_content"`
				Calls     []struct {
					Index    int
					ID       json.RawMessage
					Function struct{ Name, Arguments json.RawMessage }
				} `json:"tool_calls"`
			}
		}
	}
	if err := json.Unmarshal([]byte(payload), &c); err != nil {
		t.Fatalf("%v: %s", err, payload)
	}
	inner := func(raw json.RawMessage) string { return strings.Trim(string(raw), `"`) }
	for _, ch := range c.Choices {
		n.text += inner(ch.Delta.Content)
		n.reasoning += inner(ch.Delta.Reasoning)
		for _, call := range ch.Delta.Calls {
			if call.Index > len(n.calls) {
				t.Fatalf("index %d after %d calls", call.Index, len(n.calls))
			}
			if call.Index == len(n.calls) {
				n.calls = append(n.calls, "")
			}
			n.calls[call.Index] += inner(call.ID) + "|" + inner(call.Function.Name) + "|" + inner(call.Function.Arguments)
		}
	}
}

// said omits what depends on the cuts: where pieces of calls were joined.
func (n normal) said() string {
	s := n.text + "\x00" + n.reasoning + "\x00" + n.finish
	for _, c := range n.calls {
		s += "\x00" + strings.ReplaceAll(c, "|", "")
	}
	return s
}

// FuzzStream checks that normalising is idempotent for anything a server sends, that the result does
// not depend on where the bytes are cut, and that usage is counted once.
func FuzzStream(f *testing.F) {
	for _, s := range []string{
		"data: {\"choices\":[{\"delta\":{\"content\":\"漢\\ud83d\"}}]}\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"\\ude00\"}}],\"usage\":{\"prompt_tokens\":3}}\r\n\r\ndata: [DONE]\n\n",
		"data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"id\":\"a\",\"function\":{\"name\":\"x\",\"arguments\":\"{\"}},{\"index\":7,\"function\":{\"arguments\":{\"a\":[1]}}}]}}]}\n",
		": x\n\nevent: y\ndata:\n\ndata: {\"choices\":\ndata: [{\"delta\":{\"reasoning\":\"r\"},\"finish_reason\":\"STOP\"}]}\n\n",
		"{\"choices\":[{\"message\":{\"content\":[{\"text\":\"x\"},{\"thinking\":[{\"text\":\"y\"}]}],\"tool_calls\":{}}}],\"usage\":null}",
		"data: {\"error\":{\"message\":\"no\"}}\n\ndata: {\"a\":\"\\q\x01\"}\n", "data: [[[[", "{\n\"choices\"\n:[\n{}]}\ndata: x", "data: {\"choices\":[{\"delta\":{\"function_call\":{\"name\":\"f\"}}}]}",
	} {
		f.Add([]byte(s), uint8(1), uint8(3), false)
	}
	f.Fuzz(func(t *testing.T, body []byte, a, b uint8, isJSON bool) {
		kind := "text/event-stream"
		if isJSON {
			kind = "application/json"
		}
		whole := normalise(t, kind, body, 1<<20)
		cut := normalise(t, kind, body, int(a), int(b), 1)
		if whole.said() != cut.said() || whole.faulted != cut.faulted || whole.done != cut.done {
			t.Errorf("whole: %+v\ncut:   %+v", whole, cut)
		}
		if whole.usage > 1 {
			t.Errorf("usage %d times", whole.usage)
		}
	})
}

// FuzzChunk checks that any JSON object can be read, with the same text as a JSON library reads.
func FuzzChunk(f *testing.F) {
	f.Add([]byte(`{"choices":[{"delta":{"content":"a\u00e9\n"}}]}`))
	f.Add([]byte(`{"choices":[{"delta":{"tool_calls":[{"index":1e3,"id":null}]}}],"usage":{"prompt_tokens":"7"}}`))
	f.Add([]byte(`{"a":{"b":[1,-2.5e+7,true,null,"x"]},"choices":{}}`))
	f.Fuzz(func(t *testing.T, payload []byte) {
		var c chunk
		err := c.parse(payload)
		var doc map[string]json.RawMessage
		if json.Unmarshal(payload, &doc) != nil || doc == nil {
			return
		}
		if err != nil && !deep(payload) {
			t.Fatalf("%v: %q", err, payload)
		}
	})
}

func deep(b []byte) bool {
	return bytes.Count(b, []byte("["))+bytes.Count(b, []byte("{")) >= maxDepth
}

// FuzzEscape checks that the encoder writes JSON that decodes to the same text.
func FuzzEscape(f *testing.F) {
	f.Add("a\"\\\n\x00\x7f\xff漢😀\u2028<>&")
	f.Fuzz(func(t *testing.T, s string) {
		var back string
		enc := endpoint.AppendString(nil, s)
		if err := json.Unmarshal(enc, &back); err != nil || !utf8.Valid(enc) {
			t.Fatalf("%v: %q", err, enc)
		}
		if back != strings.ToValidUTF8(s, "\ufffd") && utf8.ValidString(s) {
			t.Errorf("%q became %q", s, back)
		}
	})
}

// FuzzThink checks that nothing of an answer is lost, wherever its deltas are cut.
func FuzzThink(f *testing.F) {
	f.Add("<think>a</think>\n\nb", uint8(3))
	f.Add(" <thinking>a</thinking>b <think>c</think>", uint8(1))
	f.Add("<thin", uint8(2))
	f.Fuzz(func(t *testing.T, s string, n uint8) {
		read := func(size int) (thought, text string) {
			var k thinkFilter
			for rest := s; rest != ""; {
				cut := min(len(rest), size)
				a, b := k.split(rest[:cut])
				thought, text, rest = thought+a, text+b, rest[cut:]
			}
			a, b := k.rest()
			return thought + a, text + b
		}
		a, b := read(len(s) + 1)
		if c, d := read(max(1, int(n))); strings.TrimSpace(a) != strings.TrimSpace(c) || b != d {
			t.Errorf("whole: %q %q, cut: %q %q", a, b, c, d)
		}
		if !strings.HasPrefix(strings.TrimLeft(s, " \t\r\n"), "<think") && b != s {
			t.Errorf("%q became %q", s, b)
		}
	})
}

// Randomly interleaved calls are assembled whole, however the server numbers them.
func TestInterleavedCallsComeOutWhole(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		n, byIndex, offset := 1+rng.IntN(4), rng.IntN(2) == 0, rng.IntN(9)
		left := make([]string, n)
		want := make([]string, n)
		begun := make([]bool, n)
		for i := range left {
			left[i] = strings.Repeat(string(rune('a'+i)), rng.IntN(12))
			want[i] = left[i]
		}
		var body strings.Builder
		order := []int{} // in which the calls begin
		for open := n; open > 0; {
			i := rng.IntN(n)
			if begun[i] && left[i] == "" {
				open = 0
				for k := range left {
					if !begun[k] || left[k] != "" {
						open++
					}
				}
				continue
			}
			d := map[string]any{}
			if byIndex {
				d["index"] = i + offset
			}
			cut := min(len(left[i]), rng.IntN(4))
			fn := map[string]any{"arguments": left[i][:cut]}
			if !begun[i] {
				fn["name"] = "tool"
				order = append(order, i)
			}
			if !byIndex || !begun[i] {
				d["id"] = string(rune('A' + i))
			}
			begun[i], left[i] = true, left[i][cut:]
			d["function"] = fn
			line, err := json.Marshal(map[string]any{"choices": []any{map[string]any{"delta": map[string]any{"tool_calls": []any{d}}}}})
			if err != nil {
				t.Fatal(err)
			}
			body.WriteString("data: " + string(line) + "\n\n")
		}
		got := normalise(t, "text/event-stream", []byte(body.String()), 1+rng.IntN(100))
		for at, i := range order {
			args := ""
			for k, part := range strings.Split(got.calls[at], "|") {
				if k%2 == 0 && k > 0 {
					args += strings.TrimSuffix(part, string(rune('A'+i)))
				}
			}
			if args != want[i] {
				t.Fatalf("call %d: %q, want %q (by index: %v)\n%s", i, got.calls[at], want[i], byIndex, body.String())
			}
		}
	}
}

func TestOneLineIsBounded(t *testing.T) {
	t.Parallel()
	body := io.MultiReader(strings.NewReader(`data: {"x":"`), &endless{left: maxLine + 1<<20})
	x := watched(t)
	_, err := io.ReadAll(newNormalBody(&http.Response{Body: io.NopCloser(body), Header: http.Header{}}, x))
	if !errors.Is(err, endpoint.ErrTooLarge) {
		t.Error(err)
	}
}

// A model that never stops is stopped, whatever it sends.
func TestAnswerIsBounded(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("reads 200 MB")
	}
	for _, delta := range []string{`{"content":"%s"}`, `{"reasoning_content":"%s"}`, `{"tool_calls":[{"index":0,"id":"a","function":{"name":"x","arguments":"%s"}}]}`} {
		chunk := fmt.Sprintf(`data: {"choices":[{"delta":`+delta+"}]}\n\n", strings.Repeat("a", 1<<20))
		var sent int
		body := readerFunc(func(p []byte) (int, error) {
			n := copy(p, chunk[sent%len(chunk):])
			sent += n
			return n, nil
		})
		x := watched(t)
		_, err := io.Copy(io.Discard, newNormalBody(&http.Response{Body: io.NopCloser(body), Header: http.Header{}}, x))
		if !errors.Is(err, endpoint.ErrTooLarge) || sent > endpoint.MaxAnswer+endpoint.MaxAnswer/4 {
			t.Errorf("%s: %v after %d MB", delta, err, sent>>20)
		}
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

type endless struct{ left int }

func (e *endless) Read(p []byte) (int, error) {
	if e.left <= 0 {
		return 0, io.EOF
	}
	for i := range p {
		p[i] = 'a'
	}
	e.left -= len(p)
	return len(p), nil
}
