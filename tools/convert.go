package tools

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// integer writes a whole number without fraction and exponent, as decoders require: 1.0 and 1e2
// are integers in JSON Schema.
func integer(n json.Number) (any, bool) {
	if !strings.ContainsAny(n.String(), ".eE") {
		return n, false
	}
	f, err := n.Float64()
	if err != nil || f != math.Trunc(f) || math.Abs(f) >= 1<<63 {
		return n, false
	}
	return json.Number(strconv.FormatInt(int64(f), 10)), true
}

// convert returns v as another JSON type if both mean the same.
func convert(v any, want string) (any, bool) {
	text, isText := v.(string)
	switch want {
	case "integer", "number":
		if !isText {
			return nil, false
		}
		t := strings.TrimSpace(text)
		f, err := strconv.ParseFloat(t, 64)
		if err != nil || math.IsInf(f, 0) || math.IsNaN(f) || (want == "integer" && f != math.Trunc(f)) {
			return nil, false
		}
		if i, err := strconv.ParseInt(t, 10, 64); err == nil {
			return json.Number(strconv.FormatInt(i, 10)), true
		}
		return json.Number(strconv.FormatFloat(f, 'f', -1, 64)), true
	case "boolean":
		switch strings.ToLower(strings.TrimSpace(text)) {
		case "true":
			return true, isText
		case "false":
			return false, isText
		}
	case "string":
		switch x := v.(type) {
		case json.Number:
			return x.String(), true
		case bool:
			return strconv.FormatBool(x), true
		}
	case "array":
		var list []any
		if isText && decodeNumber(text, &list) == nil && list != nil {
			return list, true
		}
	case "object":
		var object map[string]any
		if isText && decodeNumber(text, &object) == nil && object != nil {
			return object, true
		}
	}
	return nil, false
}

// fits reports whether v is of one of the JSON types; an empty list fits all.
func fits(v any, want []string) bool {
	var is string
	whole := false
	switch x := v.(type) {
	case nil:
		is = "null"
	case bool:
		is = "boolean"
	case string:
		is = "string"
	case json.Number:
		f, err := x.Float64()
		is, whole = "number", err == nil && f == math.Trunc(f)
	case float64:
		is, whole = "number", x == math.Trunc(x)
	case []any:
		is = "array"
	case map[string]any:
		is = "object"
	}
	return len(want) == 0 || slices.Contains(want, is) || whole && slices.Contains(want, "integer")
}

func decodeNumber(text string, v any) error {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	if err := dec.Decode(v); err != nil {
		return err
	}
	if dec.More() {
		return fmt.Errorf("trailing data")
	}
	return nil
}

func typeName(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case string:
		return "a string"
	case float64, json.Number:
		return "a number"
	case []any:
		return "an array"
	}
	return "an object"
}

func contains(list []any, v any) bool {
	want := compact(v)
	return slices.ContainsFunc(list, func(x any) bool { return compact(x) == want })
}

func compact(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}
