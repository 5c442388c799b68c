package geminitest

import (
	"encoding/base64"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// checker applies the rules of the API to one request.
type checker struct {
	id     string
	issued map[string]bool
}

// skips is the value that Google names for calls of other models.
const skips = "skip_thought_signature_validator"

func (c checker) check(body map[string]any) string {
	if wrong := unknown("", body, "contents", "systemInstruction", "tools", "toolConfig", "generationConfig", "safetySettings", "cachedContent"); wrong != "" {
		return wrong
	}
	config, _ := body["generationConfig"].(map[string]any)
	if wrong := unknown("generation_config", config, "temperature", "topP", "topK", "maxOutputTokens", "stopSequences", "thinkingConfig", "seed", "responseMimeType", "responseJsonSchema"); wrong != "" {
		return wrong
	}
	thinking, _ := config["thinkingConfig"].(map[string]any)
	if wrong := unknown("generation_config.thinking_config", thinking, "includeThoughts", "thinkingBudget", "thinkingLevel"); wrong != "" {
		return wrong
	}
	answer, bySchema := config["responseJsonSchema"].(map[string]any)
	switch {
	case bySchema && config["responseMimeType"] != "application/json":
		return "responseJsonSchema needs the response mime type 'application/json'."
	case bySchema:
		if wrong := schemaOf("generation_config.response_json_schema", answer); wrong != "" {
			return wrong
		}
	}
	three := strings.HasPrefix(c.id, "gemini-3") || strings.HasPrefix(c.id, "gemini-4")
	if config["responseMimeType"] == "application/json" && body["tools"] != nil && !three {
		return "Function calling with a response mime type: 'application/json' is unsupported"
	}
	if thinking["thinkingLevel"] != nil && !three {
		return "Thinking level is not supported for this model."
	}
	if thinking["thinkingBudget"] != nil && thinking["thinkingLevel"] != nil {
		return "You can only set only one of thinking budget and thinking level."
	}
	for _, t := range objects(body["tools"]) {
		for i, f := range objects(t["functionDeclarations"]) {
			if wrong := declaration(i, f); wrong != "" {
				return wrong
			}
		}
	}
	return c.contents(objects(body["contents"]), three)
}

var functionName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.:-]{0,127}$`)

func declaration(i int, f map[string]any) string {
	at := fmt.Sprintf("tools[0].function_declarations[%d]", i)
	if wrong := unknown(at, f, "name", "description", "parameters", "parametersJsonSchema", "response"); wrong != "" {
		return wrong
	}
	if name, _ := f["name"].(string); !functionName.MatchString(name) {
		return at + ".name: Invalid function name."
	}
	if s, ok := f["parametersJsonSchema"].(map[string]any); ok {
		return schemaOf(at+".parameters_json_schema", s)
	}
	return ""
}

func schemaOf(at string, s map[string]any) string {
	if wrong := unknown(at, s, "$id", "$defs", "$ref", "$anchor", "type", "format", "title", "description", "enum", "items", "prefixItems", "minItems", "maxItems",
		"minimum", "maximum", "anyOf", "oneOf", "properties", "additionalProperties", "required", "propertyOrdering"); wrong != "" {
		return wrong
	}
	properties, _ := s["properties"].(map[string]any)
	for name, p := range properties {
		if sub, ok := p.(map[string]any); ok {
			if wrong := schemaOf(at+".properties."+name, sub); wrong != "" {
				return wrong
			}
		}
	}
	if sub, ok := s["items"].(map[string]any); ok {
		return schemaOf(at+".items", sub)
	}
	return ""
}

func (c checker) contents(list []map[string]any, three bool) string {
	if len(list) == 0 {
		return "* GenerateContentRequest.contents: contents is not specified"
	}
	turn := 0 // where the current turn begins
	for i, content := range list {
		if content["role"] == "user" && slices.ContainsFunc(objects(content["parts"]), func(p map[string]any) bool { return p["functionResponse"] == nil }) {
			turn = i
		}
	}
	var owed []string
	for i, content := range list {
		if role := content["role"]; role != "user" && role != "model" {
			return "Please use a valid role: user, model."
		}
		parts := objects(content["parts"])
		if len(parts) == 0 {
			return fmt.Sprintf("* GenerateContentRequest.contents[%d].parts: contents.parts must not be empty.", i)
		}
		var calls, answers []string
		for k, p := range parts {
			at := fmt.Sprintf("contents[%d].parts[%d]", i, k)
			if wrong := c.part(at, p); wrong != "" {
				return wrong
			}
			if call, ok := p["functionCall"].(map[string]any); ok {
				signature, _ := p["thoughtSignature"].(string)
				if three && i > turn && len(calls) == 0 && signature == "" {
					return fmt.Sprintf("Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call `default_api:%v` , position %d.", call["name"], i)
				}
				calls = append(calls, fmt.Sprint(call["name"]))
			}
			if answer, ok := p["functionResponse"].(map[string]any); ok {
				answers = append(answers, fmt.Sprint(answer["name"]))
			}
		}
		if !slices.Equal(owed, answers) {
			return "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn."
		}
		owed = calls
	}
	if len(owed) > 0 {
		return "Please ensure that function call turn is followed by a function response turn."
	}
	return ""
}

func (c checker) part(at string, p map[string]any) string {
	if wrong := unknown(at, p, "text", "inlineData", "functionCall", "functionResponse", "thought", "thoughtSignature"); wrong != "" {
		return wrong
	}
	data := 0
	for _, kind := range []string{"text", "inlineData", "functionCall", "functionResponse"} {
		if p[kind] != nil {
			data++
		}
	}
	if data != 1 {
		return at + ".data: required oneof field 'data' must have one initialized field"
	}
	if signature, ok := p["thoughtSignature"].(string); ok && !c.issued[signature] && signature != skips {
		return "Thought signature is not valid."
	}
	if blob, ok := p["inlineData"].(map[string]any); ok {
		text, _ := blob["data"].(string)
		if _, err := base64.StdEncoding.DecodeString(text); err != nil || blob["mimeType"] == nil {
			return at + ".inline_data: Base64 decoding failed"
		}
	}
	for kind, known := range map[string][]string{"functionCall": {"id", "name", "args"}, "functionResponse": {"id", "name", "response"}} {
		if call, ok := p[kind].(map[string]any); ok {
			if wrong := unknown(at+"."+kind, call, known...); wrong != "" {
				return wrong
			}
			for _, object := range []string{"args", "response"} {
				if v := call[object]; v != nil {
					if _, ok := v.(map[string]any); !ok {
						return at + "." + kind + "." + object + ": Proto field is not repeating, cannot start list."
					}
				}
			}
		}
	}
	return ""
}

// unknown names a field that the API does not know, in its words.
func unknown(at string, fields map[string]any, known ...string) string {
	for name := range fields {
		if !slices.Contains(known, name) {
			return fmt.Sprintf("Invalid JSON payload received. Unknown name %q at '%s': Cannot find field.", name, at)
		}
	}
	return ""
}

func objects(v any) (out []map[string]any) {
	list, _ := v.([]any)
	for _, x := range list {
		m, _ := x.(map[string]any)
		out = append(out, m)
	}
	return out
}
