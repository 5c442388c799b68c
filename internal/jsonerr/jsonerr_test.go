package jsonerr_test

import (
	"encoding/json"
	"strings"
	"testing"

	"jcode/internal/jsonerr"
)

func TestPlainNamesPlacesAndJSONTypes(t *testing.T) {
	t.Parallel()
	type inner struct {
		Size *int `json:"size"`
	}
	type value struct {
		Offset int      `json:"offset"`
		Flag   bool     `json:"flag"`
		List   []string `json:"list"`
		Inner  inner    `json:"inner"`
		Name   string   `json:"name"`
	}
	for in, want := range map[string]string{
		`{"offset":1.5}`:          "offset must be a whole number in range, not 1.5",
		`{"offset":1e300}`:        "offset must be a whole number in range, not 1e300",
		`{"flag":"x"}`:            "flag must be true or false, not a string",
		`{"list":{}}`:             "list must be an array, not an object",
		`{"inner":{"size":true}}`: "inner.size must be a whole number, not a boolean",
		`{"inner":[]}`:            "inner must be an object, not an array",
		`{"name":7}`:              "name must be a string, not a number",
		`[]`:                      "the value must be an object, not an array",
		`{"offset":`:              "unexpected end of JSON input",
	} {
		var v value
		err := jsonerr.Plain(json.Unmarshal([]byte(in), &v))
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %q", in, err, want)
		}
		if strings.Contains(err.Error(), "Go ") {
			t.Errorf("%s: names Go: %v", in, err)
		}
	}
	if jsonerr.Plain(nil) != nil {
		t.Error("no error became one")
	}
}
