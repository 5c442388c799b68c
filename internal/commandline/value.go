package commandline

import (
	"encoding"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// value is a field that is filled from words. It is a pflag.Value.
type value struct {
	to    reflect.Value
	kind  string // "path" or ""
	whole bool   // a word is one item of a list, whatever it contains
	enum  []string
	given bool
}

func valueOf(field reflect.StructField, to reflect.Value) *value {
	_, isArgument := field.Tag.Lookup("arg")
	return &value{to: to, kind: field.Tag.Get("type"), whole: isArgument || field.Tag.Get("sep") == "none", enum: enum(field)}
}

func (v *value) isList() bool { return v.to.Kind() == reflect.Slice }

// String and Type complete a pflag.Value; nothing is printed from them.
func (v *value) String() string { return "" }

// Type names the kind of a value.
func (v *value) Type() string { return v.to.Kind().String() }

// notOneOf is a value that an enumeration doesn't have.
type notOneOf struct {
	got  string
	enum []string
}

func (e *notOneOf) Error() string {
	words := make([]string, 0, len(e.enum))
	for _, w := range e.enum {
		if w != "" {
			words = append(words, strconv.Quote(w))
		}
	}
	return fmt.Sprintf("must be one of %s but got %q", strings.Join(words, ","), e.got)
}

// Set takes a word. A list grows with each.
func (v *value) Set(word string) error {
	if v.enum != nil && !slices.Contains(v.enum, word) {
		return &notOneOf{word, v.enum}
	}
	if !v.isList() {
		return v.fill(v.to, word)
	}
	words := []string{word}
	if !v.whole {
		words = strings.Split(word, ",")
	}
	if !v.given { // the default goes
		v.to.Set(reflect.Zero(v.to.Type()))
		v.given = true
	}
	for _, w := range words {
		item := reflect.New(v.to.Type().Elem()).Elem()
		if err := v.fill(item, w); err != nil {
			return err
		}
		v.to.Set(reflect.Append(v.to, item))
	}
	return nil
}

// fill reads a word into a field or into an item of a list.
func (v *value) fill(to reflect.Value, word string) error {
	if u, ok := to.Addr().Interface().(encoding.TextUnmarshaler); ok {
		return u.UnmarshalText([]byte(word))
	}
	switch to.Kind() {
	case reflect.String:
		if v.kind != "" {
			path, err := absolute(word)
			if err != nil {
				return err
			}
			word = path
		}
		to.SetString(word)
	case reflect.Bool:
		switch strings.ToLower(word) {
		case "true", "1", "yes":
			to.SetBool(true)
		case "false", "0", "no":
			to.SetBool(false)
		default:
			return fmt.Errorf("is on or off: true, 1, yes, false, 0 or no, not %q", word)
		}
	case reflect.Int:
		n, err := strconv.Atoi(word)
		if err != nil {
			return fmt.Errorf("%q is not a whole number", word)
		}
		to.SetInt(int64(n))
	default:
		return fmt.Errorf("a %s can't be given on a command line", to.Kind())
	}
	return nil
}

// absolute returns a path from the root; "-" is standard input or output.
func absolute(path string) (string, error) {
	if path == "-" {
		return path, nil
	}
	if rest, ok := strings.CutPrefix(path, "~"); ok && (rest == "" || os.IsPathSeparator(rest[0])) {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("%s: %w", path, err)
		}
		path = home + rest
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return abs, nil
}
