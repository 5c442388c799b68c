package mcp

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func TestConvertResult(t *testing.T) {
	t.Parallel()
	const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
	for _, c := range []struct{ name, in, text, script string }{
		{"text", `{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`, "a\nb", "a\nb"},
		{"nothing", `{"content":[]}`, "(no content)", ""},
		{"missing", `{}`, "(no content)", ""},
		{"null content", `{"content":null}`, "(no content)", ""},
		{"null result", `null`, "(no content)", ""},
		{"string content", `{"content":"hello"}`, "hello", "hello"},
		{"string items", `{"content":["x","y"]}`, "x\ny", "x\ny"},
		{"structured only", `{"content":[],"structuredContent":{"z":1,"a":9007199254740993}}`, `{"z":1,"a":9007199254740993}`, ""},
		{"structured beside text", `{"content":[{"type":"text","text":"t"}],"structuredContent":{"z":1}}`, `t`, "t"},
		{"unknown kind", `{"content":[{"type":"hologram","x":1},{"type":"text","text":"t"}]}`, "[content of unknown type \"hologram\"]\nt", "[content of unknown type \"hologram\"]\nt"},
		{"broken item", `{"content":[42,{"type":"text","text":7},{"type":"text","text":"t"}]}`, "[unreadable content: a number]\n[unreadable text content: text is a number]\nt", "[unreadable content: a number]\n[unreadable text content: text is a number]\nt"},
		{"a damaged picture", `{"content":[{"type":"image","mimeType":"image/png","data":"iVBORw0KGgp4eHh4"}]}`, "[image image/png, 12 B, not shown: the image/png data is damaged: unexpected EOF, saved as FILE]", "[image]"},
		{"bad base64", `{"content":[{"type":"image","mimeType":"image/png","data":"!!"},{"type":"text","text":"t"}]}`, "[image image/png: its data is not valid base64]\nt", "[image]\nt"},
		{"image", `{"content":[{"type":"text","text":"t"},{"type":"image","mimeType":"image/png","data":"` + png + `"}]}`, "t\n[image image/png, 70 B]", "t\n[image]"},
		{"audio", `{"content":[{"type":"audio","mimeType":"audio/wav","data":"` + png + `"}]}`, "[audio audio/wav, 70 B, saved as FILE]", "[audio]"},
		{"link", `{"content":[{"type":"resource_link","uri":"file:///a","name":"A"}]}`, "[resource link: file:///a A]", "[resource_link: file:///a]"},
		{"resource text", `{"content":[{"type":"resource","resource":{"uri":"x://y","text":"inside"}}]}`, "inside", "[resource]"},
		{"resource blob", `{"content":[{"type":"resource","resource":{"uri":"x://y","mimeType":"application/pdf","blob":"aGk="}}]}`, "[resource x://y application/pdf, 2 B, saved as FILE]", "[resource]"},
		{"no object", `"just text"`, "[the server's result is a string, not an object]\njust text", "[the server's result is a string, not an object]\njust text"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := converter{save: func(string, []byte) (string, error) { return "FILE", nil }}.convert(json.RawMessage(c.in))
			if got.text != c.text || got.script != c.script {
				t.Errorf("text %q, want %q\nscript %q, want %q", got.text, c.text, got.script, c.script)
			}
			if strings.Contains(got.text, png) {
				t.Error("base64 reached the text")
			}
		})
	}
}

func TestConvertKeepsImagesOnceAndMarksErrors(t *testing.T) {
	t.Parallel()
	const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
	got := converter{}.convert(json.RawMessage(`{"isError":true,"content":[{"type":"text","text":"a"},{"type":"image","mimeType":"image/png","data":"` + png + `"},{"type":"text","text":"b"}]}`))
	if !got.isError || len(got.parts) != 1 || got.text != "a\n[image image/png, 70 B]\nb" {
		t.Errorf("%+v", got)
	}
}

func TestConvertCapsLongResults(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 30_000)
	raw, err := json.Marshal(map[string]any{"content": []any{map[string]any{"type": "text", "text": "HEAD" + long + "TAIL"}}})
	if err != nil {
		t.Fatal(err)
	}
	var kept string
	got := converter{maxTokens: 100, saveText: func(whole string) (string, error) { kept = whole; return "FILE", nil }}.convert(raw)
	if len(got.text) > 600 || !strings.HasPrefix(got.text, "HEAD") || !strings.HasSuffix(got.text, "TAIL") || !strings.Contains(got.text, "the whole is in FILE") {
		t.Errorf("%d bytes: %s", len(got.text), got.text)
	}
	if kept != "HEAD"+long+"TAIL" {
		t.Error("the file does not hold the whole")
	}
	got = converter{maxTokens: 100, saveText: func(string) (string, error) { return "", errors.New("disk full") }}.convert(raw)
	if !strings.Contains(got.text, "not kept") {
		t.Error(got.text)
	}
}

func FuzzConvert(f *testing.F) {
	f.Add([]byte(`{"content":[{"type":"text","text":"a"}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if got := (converter{}).convert(raw); got.text == "" {
			t.Fatal("empty text")
		}
	})
}
