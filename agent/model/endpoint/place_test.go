package endpoint_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"testing"

	"jcode/agent/model"
	"jcode/internal/testkit/modeltest"
)

// whereIs finds the place of a text in a decoded body, as servers write it.
func whereIs(v any, text string, dots bool) (place string, ok bool) {
	switch v := v.(type) {
	case map[string]any:
		for k, inner := range v {
			if rest, ok := whereIs(inner, text, dots); ok {
				return "." + k + rest, true
			}
		}
	case []any:
		for i, inner := range v {
			if rest, ok := whereIs(inner, text, dots); ok && dots {
				return fmt.Sprintf(".%d%s", i, rest), true
			} else if ok {
				return fmt.Sprintf("[%d]%s", i, rest), true
			}
		}
	case string:
		return "", strings.Contains(v, text)
	}
	return "", false
}

func TestTheRefusedPictureIsTheOneAtTheNamedPlace(t *testing.T) {
	for _, dots := range []bool{true, false} {
		refuse := func(r modeltest.Request) string {
			place, ok := whereIs(r.Fields, "AQkJ", dots) // the second picture
			if !ok {
				return ""
			}
			return strings.TrimPrefix(place, ".") + ": Could not process image"
		}
		srv := modeltest.New(t, modeltest.RefuseIf(refuse, modeltest.Text("ok")).Forever())
		for protocol, c := range asks(t, srv.URL(), nil) {
			req := model.Request{Model: "claude-opus-4-8"}
			for k := range 2 {
				msg := model.Message{Role: model.RoleUser, Text: "pictures"}
				for j := range 2 {
					msg.Images = append(msg.Images, model.Image{MIME: "image/png", Data: []byte{byte(2*k + j), 9, 9}})
				}
				req.Messages = append(req.Messages, msg)
			}
			_, err := c.Stream(t.Context(), req, func(model.Event) {})
			var refused *model.Error
			if !errors.As(err, &refused) || refused.Class != model.ClassImage || refused.Image != sha256.Sum256([]byte{1, 9, 9}) {
				t.Errorf("%s: %v", protocol, err)
			}
		}
	}
}
