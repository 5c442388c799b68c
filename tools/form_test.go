package tools_test

import (
	"reflect"
	"strings"
	"testing"

	"jcode/tools"
)

func TestFormFieldsReadAndCheckWhatIsWritten(t *testing.T) {
	colour := tools.FormField{Name: "colour", Kind: tools.FieldChoice, Options: []string{"#f00", "#00f"}, Labels: []string{"Red", "Blue"}}
	tags := tools.FormField{Name: "tags", Kind: tools.FieldChoices, Options: []string{"a", "b", "c"}, Min: new(1.0), Max: new(2.0)}
	for name, c := range map[string]struct {
		field tools.FormField
		in    string
		want  any
		err   string
	}{
		"text as it is":        {tools.FormField{Kind: tools.FieldText}, " two words ", " two words ", ""},
		"nothing, optional":    {tools.FormField{Kind: tools.FieldText}, "  ", nil, ""},
		"nothing, required":    {tools.FormField{Kind: tools.FieldText, Required: true}, "", nil, "a value is needed"},
		"nothing, default":     {tools.FormField{Kind: tools.FieldInteger, Required: true, Default: 7.0}, "", 7.0, ""},
		"characters, no bytes": {tools.FormField{Kind: tools.FieldText, Max: new(2.0)}, "漢字", "漢字", ""},
		"too long":             {tools.FormField{Kind: tools.FieldText, Max: new(1.0)}, "漢字", nil, "at most 1 character"},
		"too short":            {tools.FormField{Kind: tools.FieldText, Min: new(3.0)}, "ab", nil, "at least 3 characters"},
		"pattern":              {tools.FormField{Kind: tools.FieldText, Pattern: `^\d+$`}, "x", nil, `must match ^\d+$`},
		"pattern of others":    {tools.FormField{Kind: tools.FieldText, Pattern: `^(?=x)`}, "y", "y", ""},
		"email":                {tools.FormField{Kind: tools.FieldText, Format: "email"}, "ada@example.com", "ada@example.com", ""},
		"no email":             {tools.FormField{Kind: tools.FieldText, Format: "email"}, "Ada <ada@example.com>", nil, "e-mail"},
		"uri":                  {tools.FormField{Kind: tools.FieldText, Format: "uri"}, "https://example.com/x", "https://example.com/x", ""},
		"no uri":               {tools.FormField{Kind: tools.FieldText, Format: "uri"}, "example", nil, "https://"},
		"date":                 {tools.FormField{Kind: tools.FieldText, Format: "date"}, "2026-02-28", "2026-02-28", ""},
		"no date":              {tools.FormField{Kind: tools.FieldText, Format: "date"}, "2026-02-30", nil, "must be a date"},
		"time":                 {tools.FormField{Kind: tools.FieldText, Format: "date-time"}, "2026-02-28T10:00:00Z", "2026-02-28T10:00:00Z", ""},
		"no time":              {tools.FormField{Kind: tools.FieldText, Format: "date-time"}, "10:00", nil, "must be a time"},
		"number":               {tools.FormField{Kind: tools.FieldNumber}, " 1.5 ", 1.5, ""},
		"no number":            {tools.FormField{Kind: tools.FieldNumber}, "many", nil, "must be a number"},
		"not a number":         {tools.FormField{Kind: tools.FieldNumber}, "NaN", nil, "must be a number"},
		"whole":                {tools.FormField{Kind: tools.FieldInteger}, "36", 36.0, ""},
		"not whole":            {tools.FormField{Kind: tools.FieldInteger}, "3.6", nil, "whole number"},
		"too small":            {tools.FormField{Kind: tools.FieldInteger, Min: new(0.0)}, "-1", nil, "must be at least 0"},
		"yes":                  {tools.FormField{Kind: tools.FieldBoolean}, "Yes", true, ""},
		"no":                   {tools.FormField{Kind: tools.FieldBoolean, Required: true}, "n", false, ""},
		"neither":              {tools.FormField{Kind: tools.FieldBoolean}, "maybe", nil, "yes or no"},
		"option by value":      {colour, "#00f", "#00f", ""},
		"option by label":      {colour, "red", "#f00", ""},
		"option by number":     {colour, "2", "#00f", ""},
		"no option":            {colour, "green", nil, `"green" is none of`},
		"several":              {tags, "a, 3,", []string{"a", "c"}, ""},
		"too many":             {tags, "a,b,c", nil, "at most 2 choices"},
		"twice":                {tags, "a,a", nil, "twice"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := c.field.Parse(c.in)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("%v, want %q", err, c.err)
				}
				return
			}
			if err != nil || !reflect.DeepEqual(got, c.want) {
				t.Fatalf("%#v, %v; want %#v", got, err, c.want)
			}
			if again, err := c.field.Parse(c.field.Text(got)); err != nil || !reflect.DeepEqual(again, got) {
				t.Errorf("written out and read again it is %#v, %v", again, err)
			}
		})
	}
}

func TestFormFieldsRefuseValuesOfAnotherType(t *testing.T) {
	values := map[tools.FieldKind]any{tools.FieldText: "x", tools.FieldNumber: 1.5, tools.FieldBoolean: true, tools.FieldChoices: []string{"x"}}
	for kind, own := range values {
		f := tools.FormField{Kind: kind, Options: []string{"x"}}
		for _, v := range append([]any{int64(1)}, values[tools.FieldText], values[tools.FieldNumber], values[tools.FieldBoolean], values[tools.FieldChoices]) {
			if err := f.Check(v); (err == nil) != reflect.DeepEqual(v, own) {
				t.Errorf("%s takes %#v: %v", kind, v, err)
			}
		}
	}
}
