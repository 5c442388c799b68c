package role

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// Format returns a role file that Parse reads as the same role. The text of a role that was not
// changed is in Role.Text.
func Format(r Role) string {
	var b strings.Builder
	b.WriteString("---\n")
	line := func(key, value string) { fmt.Fprintf(&b, "%s: %s\n", key, value) }
	for _, f := range []struct{ key, value string }{{"description", r.Description}, {"model", r.Model}} {
		if f.value != "" {
			line(f.key, quote(f.value))
		}
	}
	for _, f := range []struct {
		key   string
		value *float64
	}{{"temperature", r.Temperature}, {"top_p", r.TopP}} {
		if f.value != nil {
			line(f.key, strconv.FormatFloat(*f.value, 'g', -1, 64))
		}
	}
	if r.ReasoningEffort != "" {
		line("reasoning_effort", quote(r.ReasoningEffort))
	}
	for _, f := range []struct {
		key   string
		value int
	}{{"max_output_tokens", r.MaxOutputTokens}, {"max_steps", r.MaxSteps}} {
		if f.value > 0 {
			line(f.key, strconv.Itoa(f.value))
		}
	}
	for _, f := range []struct {
		key   string
		value []string
	}{{"tools", r.Tools}, {"disallowed_tools", r.Disallowed}, {"mcp_servers", r.Servers}, {"documents", r.Documents}, {"skills", r.Skills}, {"capabilities", r.Capabilities}} {
		if f.value != nil {
			quoted := make([]string, len(f.value))
			for i, v := range f.value {
				quoted[i] = quote(v)
			}
			line(f.key, "["+strings.Join(quoted, ", ")+"]")
		}
	}
	if r.Mode != "" {
		line("mode", quote(r.Mode))
	}
	if r.Hooks != nil {
		line("hooks", string(r.Hooks)) // JSON is YAML, too
	}
	if r.Memory != "" {
		line("memory", quote(r.Memory))
	}
	formatVariables(&b, r.Variables)
	for _, f := range r.Unknown {
		b.WriteString(cmp.Or(f.Raw, f.Key+":") + "\n")
	}
	b.WriteString("---\n")
	if r.Body != "" {
		b.WriteString(r.Body + "\n")
	}
	return b.String()
}

// formatVariables writes a line for each variable.
func formatVariables(b *strings.Builder, list []Variable) {
	for i, v := range list {
		if i == 0 {
			b.WriteString("variables:\n")
		}
		fmt.Fprintf(b, "  - {name: %q", v.Name)
		if v.Description != "" {
			fmt.Fprintf(b, ", description: %q", v.Description)
		}
		if v.Default != nil {
			fmt.Fprintf(b, ", default: %q", *v.Default)
		}
		if v.Required != (v.Default == nil) {
			fmt.Fprintf(b, ", required: %t", v.Required)
		}
		if v.Choices != nil {
			quoted := make([]string, len(v.Choices))
			for i, c := range v.Choices {
				quoted[i] = strconv.Quote(c)
			}
			fmt.Fprintf(b, ", choices: [%s]", strings.Join(quoted, ", "))
		}
		b.WriteString("}\n")
	}
}

// quote returns a text as YAML: plain if that is safe, else in double quotes.
func quote(s string) string {
	safe := s != "" && strings.IndexFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && !strings.ContainsRune("/_", r)
	}) < 0
	switch strings.ToLower(s) {
	case "null", "true", "false", "yes", "no", "on", "off", "y", "n":
		safe = false
	}
	if safe {
		return s
	}
	return strconv.Quote(strings.ToValidUTF8(s, "\uFFFD"))
}
