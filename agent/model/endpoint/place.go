package endpoint

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"

	"jcode/agent/model"
)

// pictureAt finds the picture that a refusal names by its place in the body that was sent, such as
// messages.3.content.1.image.source.base64.data or input[2].content[0].image_url, and returns its SHA-256.
func pictureAt(f Fault, body []byte, r *model.Request) (sum [sha256.Size]byte, ok bool) {
	paths := regexp.MustCompile(`\b(?:messages|input|contents)(?:\.\w+|\[\d+\])+`).FindAllString(f.param+" "+f.message, 4)
	var sent any
	if paths == nil || json.Unmarshal(body, &sent) != nil {
		return sum, false
	}
	known := map[[sha256.Size]byte]bool{}
	for i := range r.Messages {
		for _, img := range r.Messages[i].Images {
			known[sha256.Sum256(img.Data)] = true
		}
	}
	for _, path := range paths {
		if sum, ok := pictureIn(follow(sent, path), known); ok {
			return sum, true
		}
	}
	return sum, false
}

// follow walks a path as far as it leads. Steps that name a block's type are not in the body.
func follow(v any, path string) any {
	for _, step := range strings.FieldsFunc(path, func(r rune) bool { return r == '.' || r == '[' || r == ']' }) {
		switch at := v.(type) {
		case map[string]any:
			if next, ok := at[step]; ok {
				v = next
			}
		case []any:
			if n, err := strconv.Atoi(step); err == nil && n < len(at) {
				v = at[n]
			}
		}
	}
	return v
}

// pictureIn returns the only known picture below a value.
func pictureIn(v any, known map[[sha256.Size]byte]bool) (sum [sha256.Size]byte, ok bool) {
	found := map[[sha256.Size]byte]bool{}
	var search func(v any)
	search = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for _, inner := range v {
				search(inner)
			}
		case []any:
			for _, inner := range v {
				search(inner)
			}
		case string:
			if strings.HasPrefix(v, "data:") {
				_, v, _ = strings.Cut(v, ",")
			}
			if data, err := base64.StdEncoding.DecodeString(v); err == nil && known[sha256.Sum256(data)] {
				found[sha256.Sum256(data)] = true
			}
		}
	}
	search(v)
	for sum = range found {
		return sum, len(found) == 1
	}
	return sum, false
}
