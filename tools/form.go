package tools

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"net/mail"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Form is a question with fields that a person fills in, as MCP servers ask one.
type Form struct {
	// From names who asks: "MCP server github".
	From string
	// Person says that the form belongs to an action of the person; no call waits for it.
	Person bool
	// Text is the question. Like the labels of fields it comes from a server.
	Text   string
	Fields []FormField
	// Yes and No say what the answers of a form without fields do; "" means "yes" and "no".
	Yes, No string
}

// Secret reports whether a form asks for a password.
func (f Form) Secret() bool {
	return slices.ContainsFunc(f.Fields, func(f FormField) bool { return f.Secret })
}

// FieldKind is the kind of value that a field accepts.
type FieldKind string

// The kinds of fields, with the Go type of their values.
const (
	FieldText    FieldKind = "string"  // string
	FieldNumber  FieldKind = "number"  // float64
	FieldInteger FieldKind = "integer" // float64
	FieldBoolean FieldKind = "boolean" // bool
	FieldChoice  FieldKind = "choice"  // string, one of Options
	FieldChoices FieldKind = "choices" // []string, some of Options
)

// FormField is one field of a form.
type FormField struct {
	Name        string
	Title       string
	Description string
	Kind        FieldKind
	// Format is email, uri, date, date-time or "".
	Format string
	// Pattern is a regular expression for text; "" allows any text.
	Pattern  string
	Required bool
	// Secret text is a password: it is not shown while it is written, and is filled in at the terminal alone.
	Secret bool
	// Default is the initial value, and the value of an empty field; nil for no default.
	Default any
	// Options are the values of a choice, Labels the texts to show for them. Without options a
	// choice accepts any text.
	Options []string
	Labels  []string
	// Min and Max limit numbers, the length of text in characters, or the number of choices; nil
	// means no limit.
	Min, Max *float64
}

// FormAction is what a person did with a form.
type FormAction string

// The possible actions.
const (
	FormAccept  FormAction = "accept"
	FormDecline FormAction = "decline"
	FormCancel  FormAction = "cancel"
)

// FormAnswer is a person's answer to a form.
type FormAnswer struct {
	Action FormAction
	// Values are the values of an accepted form, by field name, without fields that were left
	// empty.
	Values map[string]any
}

// Label returns the title of a field, or its name if it has none.
func (f FormField) Label() string { return cmp.Or(f.Title, f.Name) }

// OptionLabel returns the text to show for option i.
func (f FormField) OptionLabel(i int) string {
	if i < len(f.Labels) && f.Labels[i] != "" {
		return f.Labels[i]
	}
	return f.Options[i]
}

// Text returns a value in the form that Parse reads.
func (f FormField) Text(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case bool:
		return map[bool]string{true: "yes", false: "no"}[v]
	case []string:
		return strings.Join(v, ", ")
	}
	return ""
}

// Parse parses what a person wrote into a field. An empty text means the default, or nil if that
// is allowed. The error is for the person, and says what is expected.
func (f FormField) Parse(input string) (any, error) {
	trimmed := strings.TrimSpace(input)
	if trimmed == "" {
		return f.Default, f.Check(f.Default)
	}
	var value any
	switch f.Kind {
	case FieldNumber, FieldInteger:
		n, err := strconv.ParseFloat(trimmed, 64)
		if err != nil {
			return nil, f.wrongType()
		}
		value = n
	case FieldBoolean:
		switch strings.ToLower(trimmed) {
		case "y", "yes", "true", "1":
			value = true
		case "n", "no", "false", "0":
			value = false
		default:
			return nil, f.wrongType()
		}
	case FieldChoice:
		value = f.option(trimmed)
	case FieldChoices:
		var list []string
		for part := range strings.SplitSeq(trimmed, ",") {
			if part = strings.TrimSpace(part); part != "" {
				list = append(list, f.option(part))
			}
		}
		value = list
	default:
		value = input
	}
	return value, f.Check(value)
}

// option returns the option with this value, label or number.
func (f FormField) option(s string) string {
	if slices.Contains(f.Options, s) {
		return s
	}
	for i := range f.Options {
		if strings.EqualFold(f.OptionLabel(i), s) || s == strconv.Itoa(i+1) {
			return f.Options[i]
		}
	}
	return s
}

// Check returns what is wrong with a value, or nil. A nil value means that the field was left
// empty.
func (f FormField) Check(value any) error {
	switch v := value.(type) {
	case nil:
		if f.Required {
			return errors.New("a value is needed")
		}
		return nil
	case string:
		if f.Kind == FieldChoice {
			return f.checkOptions(v)
		}
		if f.Kind != FieldText {
			return f.wrongType()
		}
		if err := f.bounds(float64(utf8.RuneCountInString(v)), "character"); err != nil {
			return err
		}
		return f.checkText(v)
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) || f.Kind != FieldNumber && (f.Kind != FieldInteger || v != math.Trunc(v)) {
			return f.wrongType()
		}
		return f.bounds(v, "")
	case bool:
		if f.Kind != FieldBoolean {
			return f.wrongType()
		}
		return nil
	case []string:
		if f.Kind != FieldChoices {
			return f.wrongType()
		}
		if err := f.checkOptions(v...); err != nil {
			return err
		}
		return f.bounds(float64(len(v)), "choice")
	}
	return f.wrongType()
}

func (f FormField) wrongType() error {
	return errors.New("must be " + map[FieldKind]string{
		FieldText: "a text", FieldNumber: "a number", FieldInteger: "a whole number", FieldBoolean: "yes or no",
		FieldChoice: "one of the options", FieldChoices: "some of the options",
	}[f.Kind])
}

func (f FormField) checkOptions(values ...string) error {
	for i, v := range values {
		if len(f.Options) > 0 && !slices.Contains(f.Options, v) {
			return fmt.Errorf("%q is none of: %s", v, strings.Join(f.Options, ", "))
		}
		if slices.Contains(values[:i], v) {
			return fmt.Errorf("%q is listed twice", v)
		}
	}
	return nil
}

// bounds checks a number, or a count of units, against Min and Max.
func (f FormField) bounds(n float64, unit string) error {
	say := func(word string, limit float64) error {
		text := strconv.FormatFloat(limit, 'f', -1, 64)
		if unit == "" {
			return fmt.Errorf("must be at %s %s", word, text)
		}
		if limit != 1 {
			unit += "s"
		}
		return fmt.Errorf("must have at %s %s %s", word, text, unit)
	}
	if f.Min != nil && n < *f.Min {
		return say("least", *f.Min)
	}
	if f.Max != nil && n > *f.Max {
		return say("most", *f.Max)
	}
	return nil
}

func (f FormField) checkText(s string) error {
	switch f.Format {
	case "email":
		if a, err := mail.ParseAddress(s); err != nil || a.Address != s {
			return errors.New("must be an e-mail address")
		}
	case "uri":
		if u, err := url.Parse(s); err != nil || u.Scheme == "" || u.Host == "" && u.Opaque == "" && u.Path == "" {
			return errors.New("must be an address such as https://example.com")
		}
	case "date":
		if _, err := time.Parse(time.DateOnly, s); err != nil {
			return errors.New("must be a date such as 2026-03-01")
		}
	case "date-time":
		if _, err := time.Parse(time.RFC3339, s); err != nil {
			return errors.New("must be a time such as 2026-03-01T15:04:05Z")
		}
	}
	if f.Pattern == "" {
		return nil
	}
	// Patterns that Go does not support are left to the server to check.
	if re, err := regexp.Compile(f.Pattern); err == nil && !re.MatchString(s) {
		return fmt.Errorf("must match %s", f.Pattern)
	}
	return nil
}

// Hint describes in a few words what a field accepts, "" if it accepts anything.
func (f FormField) Hint() string {
	var parts []string
	switch f.Kind {
	case FieldNumber:
		parts = append(parts, "a number")
	case FieldInteger:
		parts = append(parts, "a whole number")
	case FieldText:
		switch f.Format {
		case "email":
			parts = append(parts, "an e-mail address")
		case "uri":
			parts = append(parts, "an address")
		case "date":
			parts = append(parts, "a date: YYYY-MM-DD")
		case "date-time":
			parts = append(parts, "a time: YYYY-MM-DDThh:mm:ssZ")
		}
	case FieldChoices:
		if len(f.Options) == 0 {
			parts = append(parts, "several with commas between")
		}
	case FieldBoolean, FieldChoice:
	}
	unit := map[FieldKind]string{FieldText: " characters", FieldChoices: " of them"}[f.Kind]
	number := func(n *float64) string { return strconv.FormatFloat(*n, 'f', -1, 64) }
	switch {
	case f.Min != nil && f.Max != nil:
		parts = append(parts, number(f.Min)+" to "+number(f.Max)+unit)
	case f.Min != nil:
		parts = append(parts, "at least "+number(f.Min)+unit)
	case f.Max != nil:
		parts = append(parts, "at most "+number(f.Max)+unit)
	}
	return strings.Join(parts, ", ")
}
