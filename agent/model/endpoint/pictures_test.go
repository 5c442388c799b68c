package endpoint_test

import (
	"fmt"
	"strings"
	"testing"

	"jcode/agent/model"
	"jcode/internal/testkit/modeltest"
)

func TestTooManyPicturesCostTheOldestOnly(t *testing.T) {
	for i, words := range []string{"Too many images in request: 5 > 3", "You may send at most 3 images.", "a request can have a maximum of 3 images", "Too many images: the limit is 3."} {
		refuse := func(r modeltest.Request) string {
			if strings.Count(string(r.Raw), "image/png") > 3 {
				return words
			}
			return ""
		}
		srv := modeltest.New(t, modeltest.RefuseIf(refuse, modeltest.Text("ok")).Forever())
		for protocol, c := range asks(t, srv.URL(), nil) {
			req := model.Request{Model: fmt.Sprint("claude-opus-4-8-", i)}
			for k, n := 0, 0; k < 5; k += n { // the first message has three: its oldest two go
				n = 1
				if k == 0 {
					n = 3
				}
				m := model.Message{Role: model.RoleUser, Text: fmt.Sprint("picture ", k)}
				for i := range n {
					m.Images = append(m.Images, model.Image{MIME: "image/png", Data: []byte{byte(k + i), 9, 9}})
				}
				req.Messages = append(req.Messages, m)
			}
			var notes []string
			if _, err := c.Stream(t.Context(), req, func(e model.Event) {
				if n, ok := e.(model.NoticeEvent); ok {
					notes = append(notes, n.Text)
				}
			}); err != nil || len(notes) != 1 || !strings.Contains(notes[0], "3 pictures at most") {
				t.Fatalf("%s: %s: %q %v", words, protocol, notes, err)
			}
			all := srv.Requests()
			raw := string(all[len(all)-1].Raw)
			if strings.Contains(raw, "AAkJ") || strings.Contains(raw, "AQkJ") || !strings.Contains(raw, "AgkJ") || !strings.Contains(raw, "BAkJ") {
				t.Errorf("%s: %s: %s", words, protocol, raw)
			}
		}
	}
}
