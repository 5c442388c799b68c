package session

import (
	"encoding/json"
	"reflect"
	"testing"
)

// FuzzPartsReadAsTheGeneralDecoderReadsThem compares plainParts with the general decoder.
func FuzzPartsReadAsTheGeneralDecoderReadsThem(f *testing.F) {
	for _, parts := range [][]Part{
		{},
		{{Kind: "text", Text: "a\n\t\"\\/<>&\u2028é漢\x00\x1b"}},
		{{Kind: "reasoning"}, {Kind: "text", Text: "b"}},
		{{Kind: "image", MIME: "image/png", Data: []byte("x")}},
	} {
		b, err := json.Marshal(parts)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	for _, s := range []string{"", "[", "[]", "[ ]", "null", `[{"kind":"text","text":"\ud83d\ude00"}]`, `[{"kind":"a"},]`, `[{"kind":"a"}] `, `[{"kind":"a","text":"b","text":"c"}]`, `[{"kind":"\u+123"}]`, "[{\"kind\":\"a\n\"}]", "[{\"kind\":\"\xff\"}]"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		short, ok := plainParts(b)
		if !ok {
			return
		}
		var long []Part
		if err := json.Unmarshal(b, &long); err != nil || !reflect.DeepEqual(short, long) {
			t.Errorf("%q reads as %q, want %q (%v)", b, short, long, err)
		}
	})
}

func TestStoredTextTakesTheShortWay(t *testing.T) {
	t.Parallel()
	b, err := json.Marshal([]Part{{Kind: PartReasoning, Text: "think\n"}, {Kind: PartText, Text: "a <b> & \"c\"\t漢\u2028"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := plainParts(b); !ok {
		t.Errorf("%s is read the long way", b)
	}
}
