package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"pgregory.net/rapid"
)

func TestEnvelopes(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     string // method, id key, result, error of each message; "" = no message
	}{
		{"response", `{"jsonrpc":"2.0","id":1,"result":{"a":[1,{"b":"}"}]}}`, `|1|{"a":[1,{"b":"}"}]}|`},
		{"blanks and order", " \t{ \"result\" : 1 , \"id\" : \"1\" , \"jsonrpc\" : \"2.0\" }  ", `|1|1|`},
		{"float id", `{"jsonrpc":"2.0","id":1.0,"result":null}`, `|1|null|`},
		{"string id", `{"jsonrpc":"2.0","id":"x","result":true}`, `|s:x|true|`},
		{"null error", `{"jsonrpc":"2.0","id":1,"result":{},"error":null}`, `|1|{}|`},
		{"error", `{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"m"}}`, `|1||{"code":-1,"message":"m"}`},
		{"request", `{"jsonrpc":"2.0","id":7,"method":"ping"}`, `ping|7||`},
		{"notification", `{"jsonrpc":"2.0","method":"n","params":{"x":"\"}"}}`, `n|||`},
		{"extra", `{"x":{"id":9,"method":"no"},"jsonrpc":"2.0","id":1,"result":2}`, `|1|2|`},
		{"batch", `[{"jsonrpc":"2.0","id":1,"result":1}, 5, {"jsonrpc":"2.0","id":2,"result":2}]`, `|1|1|;|2|2|`},
		{"bom", "\xef\xbb\xbf" + `{"jsonrpc":"2.0","id":1,"result":1}`, `|1|1|`},
		{"no version", `{"id":1,"result":1}`, ``},
		{"other version", `{"jsonrpc":"1.0","id":1,"result":1}`, ``},
		{"log line", `{"level":"info"}`, ``},
		{"plain", `npm warn x`, ``},
		{"null id without method", `{"jsonrpc":"2.0","id":null,"result":1}`, ``},
		{"cut", `{"jsonrpc":"2.0","id":1,"result":{`, ``},
		{"two values", `{"jsonrpc":"2.0","id":1,"result":1}{}`, ``},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			list, err := readEnvelopes([]byte(c.in))
			if (err != nil) != (c.want == "") {
				t.Errorf("%v", err)
			}
			for _, e := range list {
				key := ""
				if e.id != nil {
					key = IDKey(e.id)
				}
				got = append(got, strings.Join([]string{e.method, key, string(e.result), string(e.err)}, "|"))
			}
			if strings.Join(got, ";") != c.want {
				t.Errorf("got %q, want %q", strings.Join(got, ";"), c.want)
			}
		})
	}
}

// A message is unchanged after it was written and read again, for any content.
func TestEnvelopeRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		result, err := json.Marshal(map[string]string{rapid.String().Draw(t, "key"): rapid.String().Draw(t, "value")})
		if err != nil {
			t.Fatal(err)
		}
		id := rapid.IntRange(1, 1<<40).Draw(t, "id")
		e := envelope{id: json.RawMessage(fmt.Sprint(id)), result: result}
		list, err := readEnvelopes(e.encode())
		if err != nil || len(list) != 1 || string(list[0].result) != string(result) || IDKey(list[0].id) != fmt.Sprint(id) {
			t.Fatalf("%s: %v", e.encode(), err)
		}
		msg, err := list[0].message()
		if resp, ok := msg.(*jsonrpc.Response); err != nil || !ok || fmt.Sprint(resp.ID.Raw()) != fmt.Sprint(id) {
			t.Fatalf("%v %v", msg, err)
		}
	})
}

// The id of a message that is too long to keep is found however the stream is cut.
func TestIDIsFoundInAnOverlongFrame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		payload, err := json.Marshal(map[string]any{"id": 99, "x": []any{rapid.String().Draw(t, "text"), map[string]any{"id": "no", "method": "no"}}})
		if err != nil {
			t.Fatal(err)
		}
		id := rapid.SampledFrom([]string{"5", "5.0", `"5"`}).Draw(t, "id")
		frame := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, payload)
		if rapid.Bool().Draw(t, "last") {
			frame = fmt.Sprintf(`{"result":%s,"jsonrpc":"2.0","id":%s}`, payload, id)
		}
		limit := rapid.IntRange(1, len(frame)-1).Draw(t, "limit")
		r := newFrameReader(strings.NewReader(frame+"\nnext\n"), limit)
		f, err := r.next(false)
		if err != nil || !f.tooLong || IDKey(f.id) != "5" || f.data != nil || f.size != int64(len(frame)+1) {
			t.Fatalf("limit %d of %s: %+v %v", limit, frame, f, err)
		}
	})
	request := `{"jsonrpc":"2.0","id":5,"method":"ping","params":{}}`
	f, err := newFrameReader(strings.NewReader(request+"\n"), 10).next(false)
	if err != nil || !f.tooLong || f.id != nil {
		t.Errorf("a request is no response: %+v %v", f, err)
	}
}

func TestFramesSurviveAnOverlongNeighbour(t *testing.T) {
	r := newFrameReader(strings.NewReader("one\n\n"+strings.Repeat("x", 1<<20)+"\ntwo\r\nlast"), 1<<10)
	for _, want := range []string{"one\n", "", "two\r\n", "last"} {
		f, err := r.next(false)
		if string(f.data) != want || f.tooLong != (want == "") || err != nil {
			t.Errorf("got %q %v %v, want %q", f.data, f.tooLong, err, want)
		}
	}
	if _, err := r.next(false); !errors.Is(err, io.EOF) {
		t.Errorf("%v", err)
	}
}

func FuzzEnvelopes(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"result":{}}`))
	f.Add([]byte(`[{"jsonrpc":"2.0","method":"x"}]`))
	f.Fuzz(func(t *testing.T, frame []byte) {
		list, err := readEnvelopes(frame)
		if err != nil {
			return
		}
		for _, e := range list {
			if !json.Valid(e.encode()) {
				t.Fatalf("%q → %q", frame, e.encode())
			}
			if _, err := e.message(); err != nil && len(e.id) == 0 {
				t.Fatal(err)
			}
		}
	})
}
