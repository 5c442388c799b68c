package text_test

import (
	"testing"

	"jcode/internal/text"
)

func TestDollarsHaveEnoughDigits(t *testing.T) {
	for usd, want := range map[float64]string{
		0: "$0.00", 20: "$20.00", 1.5: "$1.50", 0.104: "$0.10", 0.05: "$0.05", 0.0123: "$0.01",
		0.0001: "$0.0001", 0.00012345: "$0.00012", 0.0999: "$0.10", 1e-12: "$0.00", 123.456: "$123.46",
	} {
		if got := text.Dollars(usd); got != want {
			t.Errorf("%g is %s, want %s", usd, got, want)
		}
	}
}

func TestJSONLineHasNoOtherLineEnd(t *testing.T) {
	if got := string(text.JSONLine([]byte("{\"a\":\"b\u0085c\"}"))); got != `{"a":"b\u0085c"}` {
		t.Error(got)
	}
}

func TestOneLineFoldsWhiteSpace(t *testing.T) {
	if got := text.OneLine(" a\n\n\tb\x1b[1m c\r\n"); got != "a b c" {
		t.Errorf("%q", got)
	}
}
