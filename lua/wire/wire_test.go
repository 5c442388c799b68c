package wire_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"jcode/internal/ordered"
	"jcode/lua/wire"
)

func TestValuesComeBackAsTheyWere(t *testing.T) {
	big := &wire.Object{}
	for i := range 40 {
		big.Set(strings.Repeat("k", i+1), float64(i))
	}
	for _, v := range []any{
		nil, true, false, 0.0, -1.0, 1.5, float64(wire.MaxExact), 1e300, "", "a", "漢字 👩‍👩‍👧", "\x00", "\x00x", "\xff\xfe", "a\x00b",
		strings.Repeat("\x01", 200), "\"\\\n\t\r\u2028",
		[]any{},
		[]any{nil, "x", []any{1.0}},
		wire.NewObject("z", 1.0, "a", wire.NewObject(), "\xff", "v"), big,
	} {
		raw, err := wire.Encode(v)
		if err != nil {
			t.Fatal(err)
		}
		if !json.Valid(raw) {
			t.Errorf("%q is not JSON", raw)
		}
		got, err := wire.Decode(raw)
		if err != nil {
			t.Fatalf("%q: %v", raw, err)
		}
		again, err := wire.Encode(got)
		if err != nil || !bytes.Equal(raw, again) {
			t.Errorf("%q became %q", raw, again)
		}
	}
}

func TestIntegersStayIntegers(t *testing.T) {
	for f, want := range map[float64]string{3: "3", -7: "-7", 9007199254740992: "9007199254740992", 1e6: "1000000", 0.5: "0.5", 1e20: "1e+20"} {
		if got := string(ordered.AppendNumber(nil, f)); got != want {
			t.Errorf("%v = %s, want %s", f, got, want)
		}
	}
	if _, err := wire.Encode(math.NaN()); err == nil {
		t.Error("NaN was encoded")
	}
}

func TestOrderOfKeysIsKept(t *testing.T) {
	v, err := wire.DecodeJSON([]byte(`{"z":1,"a":{"y":2,"b":3},"z":4}`))
	if err != nil {
		t.Fatal(err)
	}
	kept, _ := wire.EncodeJSON(v, false)
	sorted, _ := wire.EncodeJSON(v, true)
	if string(kept) != `{"z":4,"a":{"y":2,"b":3}}` || string(sorted) != `{"a":{"b":3,"y":2},"z":4}` {
		t.Errorf("%s %s", kept, sorted)
	}
}

func TestPlainJSONIsAlwaysUTF8(t *testing.T) {
	raw, err := wire.EncodeJSON("a\xffb\x00", false)
	if err != nil || string(raw) != "\"a\uFFFDb\\u0000\"" {
		t.Errorf("%q %v", raw, err)
	}
	v, err := wire.DecodeJSON([]byte(`"\ud83d\ude00 \ud800 x"`))
	if err != nil || v != "😀 \uFFFD x" {
		t.Errorf("%q %v", v, err)
	}
}

func TestBadTextIsRefused(t *testing.T) {
	for _, s := range []string{
		"", "{", "[1,]", "{\"a\":}", "01", "1.", "+1", "nul", "\"\x01\"", "\"\\x\"", "\"\\u00g0\"", "1 2", "\"\xff\"", `"\u0000!"`, "1e999",
		strings.Repeat("[", 100) + strings.Repeat("]", 100),
		"[" + strings.Repeat("1,", wire.MaxNodes) + "1]",
	} {
		if v, err := wire.Decode([]byte(s)); err == nil {
			t.Errorf("%.40q returned %v", s, v)
		}
	}
}

func TestMessagesCrossAPipe(t *testing.T) {
	var buf bytes.Buffer
	in := &wire.Message{
		Type: wire.TypeRun, ID: 7, Name: "n", Kind: "k", Text: "\xff", Hash: "h", N: 3, Value: wire.NewObject("a", []any{1.0}),
		Limits: wire.Limits{Instructions: 5, Heap: 6}, Spent: wire.Spent{CPU: 1, Memory: 2, Tainted: true},
	}
	if err := wire.Write(&buf, in); err != nil {
		t.Fatal(err)
	}
	out, err := wire.Read(&buf)
	if err != nil || !reflect.DeepEqual(in, out) {
		t.Errorf("%+v %v", out, err)
	}
	if _, err := wire.Read(&buf); !errors.Is(err, io.EOF) {
		t.Errorf("end of pipe: %v", err)
	}
}

func TestBadFramesAreRefused(t *testing.T) {
	for name, s := range map[string]string{
		"too long":      "\xff\xff\xff\xff",
		"cut length":    "\x00\x00",
		"cut body":      "\x00\x00\x00\x05{}",
		"garbage":       "\x00\x00\x00\x02xx",
		"no object":     "\x00\x00\x00\x01[",
		"no type":       "\x00\x00\x00\x02{}",
		"unknown field": "\x00\x00\x00\x0f" + `{"t":"x","y":1}`,
		"bad id":        "\x00\x00\x00\x11" + `{"t":"x","id":-1}`,
		"bad type":      "\x00\x00\x00\x07" + `{"t":1}`,
	} {
		if m, err := wire.Read(strings.NewReader(s)); !errors.Is(err, wire.ErrFrame) {
			t.Errorf("%s: %+v %v", name, m, err)
		}
	}
}

func TestTooLongMessageIsNotSent(t *testing.T) {
	var buf bytes.Buffer
	err := wire.Write(&buf, &wire.Message{Type: wire.TypeRun, Text: strings.Repeat("x", wire.MaxFrame)})
	if !errors.Is(err, wire.ErrTooLong) || buf.Len() != 0 {
		t.Errorf("%v, %d bytes", err, buf.Len())
	}
}

func TestFromKeepsBytesAndTags(t *testing.T) {
	type inner struct {
		B string `json:"b"`
	}
	type outer struct {
		inner
		A    string          `json:"a"`
		Skip string          `json:"-"`
		None string          `json:"none,omitempty"`
		Raw  json.RawMessage `json:"raw"`
		P    *int            `json:"p"`
		L    []inner         `json:"l"`
		M    map[string]int  `json:"m"`
	}
	v, err := wire.From(outer{A: "\xff", Raw: json.RawMessage(`{"z":1,"a":2}`), L: []inner{{"x"}}, M: map[string]int{"k": 1}})
	if err != nil {
		t.Fatal(err)
	}
	o := v.(*wire.Object)
	if o.String("a") != "\xff" || o.Get("none") != nil {
		t.Errorf("%+v", o)
	}
	raw, _ := wire.EncodeJSON(v, false)
	if string(raw) != "{\"b\":\"\",\"a\":\"\uFFFD\",\"raw\":{\"z\":1,\"a\":2},\"p\":null,\"l\":[{\"b\":\"x\"}],\"m\":{\"k\":1}}" {
		t.Errorf("%s", raw)
	}
	if _, err := wire.From(make(chan int)); err == nil {
		t.Error("a channel was converted")
	}
}

func TestAPINamesAreUniqueAndDescribed(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range wire.API() {
		if seen[f.Name] || f.Doc == "" || f.In == 0 {
			t.Errorf("%+v", f)
		}
		seen[f.Name] = true
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range []string{`{"a":[1,2,{"b":null}],"c":"\u0000/w=="}`, `"\ud800"`, `[1e5,-0.0,true]`, "\"\xff\""} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := wire.Decode(data)
		if err != nil {
			return
		}
		raw, err := wire.Encode(v)
		if err != nil {
			t.Fatalf("%q decodes but does not encode: %v", data, err)
		}
		again, err := wire.Decode(raw)
		if err != nil {
			t.Fatalf("%q: %v", raw, err)
		}
		third, _ := wire.Encode(again)
		if !bytes.Equal(raw, third) {
			t.Fatalf("%q is not stable: %q", raw, third)
		}
		plain, err := wire.EncodeJSON(v, true)
		if err != nil || !json.Valid(plain) || !utf8.Valid(plain) {
			t.Fatalf("%q: plain form %q, %v", data, plain, err)
		}
	})
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x0b" + `{"t":"run"}`))
	f.Add([]byte("\x00\x10\x00\x00{"))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := wire.Read(bytes.NewReader(data))
		if err == nil && m.Type == "" {
			t.Fatal("a message without a type")
		}
	})
}
