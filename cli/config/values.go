package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// custom is a field that parses its own JSON value.
type custom interface {
	// parse takes a string, a float64, a bool, a []any or a map; the error says what is
	// expected.
	parse(v any) error
	// schema returns the JSON Schema of what parse accepts.
	schema() map[string]any
}

// Duration is a duration: "90s", "2m", or a number of seconds.
type Duration time.Duration

func (d *Duration) parse(v any) error {
	switch v := v.(type) {
	case string:
		if t, err := time.ParseDuration(strings.TrimSpace(v)); err == nil && t > 0 {
			*d = Duration(t)
			return nil
		}
	case float64:
		if v > 0 && v < 1e9 {
			*d = Duration(v * float64(time.Second))
			return nil
		}
	}
	return errors.New(`must be a span of time such as "90s" or "2m", or a number of seconds`)
}

func (d *Duration) schema() map[string]any {
	return map[string]any{"anyOf": []any{
		map[string]any{"type": "string", "pattern": `^[0-9.]+(ms|s|m|h)([0-9.]+(ms|s|m|h))*$`},
		map[string]any{"type": "number", "exclusiveMinimum": 0},
	}}
}

// MarshalJSON writes the most readable form.
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(time.Duration(d).String()) }

// Share is a part of a whole, over 0 and at most 1: 0.85 or "85%".
type Share float64

func (s *Share) parse(v any) error {
	f, ok := v.(float64)
	if text, is := v.(string); is {
		f, ok = percent(text)
	}
	if !ok || f <= 0 || f > 1 {
		return errors.New(`must be a share such as 0.85 or "85%"`)
	}
	*s = Share(f)
	return nil
}

func (s *Share) schema() map[string]any {
	return map[string]any{"anyOf": []any{
		map[string]any{"type": "number", "exclusiveMinimum": 0, "maximum": 1},
		map[string]any{"type": "string", "pattern": `^[0-9.]+ ?%$`},
	}}
}

func percent(s string) (float64, bool) {
	n, ok := strings.CutSuffix(strings.TrimSpace(s), "%")
	if !ok {
		return 0, false
	}
	f, err := strconv.ParseFloat(strings.TrimSpace(n), 64)
	return f / 100, err == nil
}

// Amount is a number of tokens, or a share of the context window.
type Amount struct {
	Tokens int     // 0 when a share is meant
	Share  float64 // 0 when tokens are meant
}

func (a *Amount) parse(v any) error {
	switch v := v.(type) {
	case float64:
		if v >= 1 && v < 1e9 && v == float64(int(v)) {
			*a = Amount{Tokens: int(v)}
			return nil
		}
	case string:
		if f, ok := percent(v); ok && f > 0 && f <= 1 {
			*a = Amount{Share: f}
			return nil
		}
	}
	return errors.New(`must be a number of tokens such as 8000, or a share such as "10%"`)
}

func (a *Amount) schema() map[string]any {
	return map[string]any{"anyOf": []any{
		map[string]any{"type": "integer", "minimum": 1},
		map[string]any{"type": "string", "pattern": `^[0-9.]+ ?%$`},
	}}
}

// MarshalJSON writes the form that is read.
func (a Amount) MarshalJSON() ([]byte, error) {
	if a.Share > 0 {
		return json.Marshal(fmt.Sprintf("%g%%", a.Share*100))
	}
	return json.Marshal(a.Tokens)
}

// List is one text or several: "ctrl+s" or ["ctrl+s", "f2"].
type List []string

func (l *List) parse(v any) error {
	switch v := v.(type) {
	case string:
		*l = List{v}
		return nil
	case []any:
		out := List{}
		for _, item := range v {
			s, ok := item.(string)
			if !ok {
				return errors.New("must be a text or a list of texts")
			}
			out = append(out, s)
		}
		*l = out
		return nil
	}
	return errors.New("must be a text or a list of texts")
}

func (l *List) schema() map[string]any {
	text := map[string]any{"type": "string"}
	return map[string]any{"anyOf": []any{text, map[string]any{"type": "array", "items": text}}}
}

func number(v reflect.Value) float64 {
	if v.CanInt() {
		return float64(v.Int())
	}
	return v.Float()
}

func (l *StatusLine) parse(v any) error {
	known := strings.Join(StatusParts(), ", ")
	switch v := v.(type) {
	case string:
		if strings.TrimSpace(v) == "" {
			return errors.New("must be a command, or a list of " + known)
		}
		*l = StatusLine{Command: v}
		return nil
	case []any:
		out := StatusLine{}
		for _, item := range v {
			s, ok := item.(string)
			if !ok || !slices.Contains(StatusParts(), s) {
				return errors.New("must be a list of " + known + ", or a command")
			}
			out.Parts = append(out.Parts, s)
		}
		*l = out
		return nil
	}
	return errors.New("must be a list of " + known + ", or a command")
}

func (l *StatusLine) schema() map[string]any {
	parts := map[string]any{"type": "array", "items": map[string]any{"type": "string", "enum": StatusParts()}}
	return map[string]any{"anyOf": []any{parts, map[string]any{"type": "string"}}}
}

// MarshalJSON writes it as it stands in a file.
func (l StatusLine) MarshalJSON() ([]byte, error) {
	if l.Command != "" {
		return json.Marshal(l.Command)
	}
	return json.Marshal(l.Parts)
}
