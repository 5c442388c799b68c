// Package structured makes the answer of a headless run one JSON value that fits a JSON Schema.
//
// It must not know how a model is asked, nor how a run ends.
package structured

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"jcode/internal/paths"
)

// maxSchema bounds the file of a schema, in bytes.
const maxSchema = 1 << 20

// Schema is what an answer must fit.
type Schema struct {
	text     string
	resolved *jsonschema.Resolved
}

// Read reads a schema from what the command line says: a JSON object, or the name of a file that holds one.
func Read(given string) (*Schema, error) {
	data, from := []byte(given), "the schema on the command line"
	if !strings.HasPrefix(strings.TrimSpace(given), "{") {
		var err error
		if data, err = paths.ReadFile(given, maxSchema); err != nil {
			return nil, err
		}
		from = given
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal(data, &schema); err != nil {
		return nil, fmt.Errorf("%s is no JSON Schema: %w", from, err)
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		return nil, fmt.Errorf("%s is no JSON Schema that can be checked: %w", from, err)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, data); err != nil {
		return nil, fmt.Errorf("%s: %w", from, err)
	}
	return &Schema{compact.String(), resolved}, nil
}

// JSON returns the schema.
func (s *Schema) JSON() json.RawMessage { return json.RawMessage(s.text) }

// Instruction is what the model is told with its prompt.
func (s *Schema) Instruction() string {
	return "When the work is done, answer with one JSON value that fits this JSON Schema, and nothing else: no text around it, no code fence.\n" + s.text
}

// Again is what the model is told if its answer does not fit.
func (s *Schema) Again(fault error) string {
	return fmt.Sprintf("Your answer does not fit the JSON Schema: %v. Answer again with the whole JSON value alone.\n%s", fault, s.text)
}

// Value returns the value of an answer. Models put a fence around it or a sentence before it: a fence that holds
// everything is taken off, nothing else.
func (s *Schema) Value(answer string) (json.RawMessage, error) {
	text := strings.TrimSpace(answer)
	if rest, ok := strings.CutPrefix(text, "```"); ok {
		if inner, ok := strings.CutSuffix(rest, "```"); ok {
			if first, body, ok := strings.Cut(inner, "\n"); ok && !strings.ContainsAny(first, "{}[]\"") {
				text = strings.TrimSpace(body)
			}
		}
	}
	if text == "" {
		return nil, errors.New("it is empty")
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var value any
	if err := d.Decode(&value); err != nil {
		return nil, fmt.Errorf("it is not JSON: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is text behind the JSON value")
	}
	if err := json.Unmarshal([]byte(text), &value); err != nil { // numbers as the check knows them
		return nil, fmt.Errorf("it is not JSON: %w", err)
	}
	if err := s.resolved.Validate(value); err != nil {
		return nil, err
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, []byte(text)); err != nil {
		return nil, err
	}
	return compact.Bytes(), nil
}
