package endpoint

import (
	"net/http"
	"testing"

	"jcode/agent/model/provider"
)

func TestARefusalAndItsRemedyAreOneSentence(t *testing.T) {
	t.Parallel()
	e := &Endpoint{Config: provider.Config{Name: "there", Key: "secret-1234"}}
	for said, want := range map[string]string{
		"Bad key":             "there: Bad key; check the key",
		"Bad key.":            "there: Bad key; check the key",
		"Wait and try again…": "there: Wait and try again…; check the key",
		"Wait...":             "there: Wait...; check the key",
		"":                    "there: Unauthorized; check the key",
	} {
		if got := e.byStatus(http.StatusUnauthorized, Fault{message: said}, "").Err.Text; got != want {
			t.Errorf("%q: %q, want %q", said, got, want)
		}
	}
}
