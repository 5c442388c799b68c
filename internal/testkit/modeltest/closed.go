package modeltest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// form is what an object of a request may hold: like the makers' own schemas it is closed, a member without a name here
// is a breach. A list is as its elements; text, numbers and nil pass everywhere.
type form struct {
	members map[string]*form // nil as a value: anything
	kinds   map[string]*form // instead of members: by "type"
}

// closed returns one line for each member that a form does not name.
func (f *form) closed(at string, value any) (found []string) {
	if f == nil {
		return nil
	}
	switch v := value.(type) {
	case []any:
		for i, e := range v {
			found = append(found, f.closed(fmt.Sprintf("%s[%d]", at, i), e)...)
		}
	case map[string]any:
		if f.kinds != nil {
			kind, known := f.kinds[text(v, "type")]
			if !known {
				return []string{fmt.Sprintf("%s: no object of type %q is known", at, text(v, "type"))}
			}
			return kind.closed(at, v)
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			inner, known := f.members[name]
			if !known {
				found = append(found, fmt.Sprintf("%s.%s: Extra inputs are not permitted", at, name))
				continue
			}
			found = append(found, inner.closed(at+"."+name, v[name])...)
		}
	}
	return found
}

// only is an object with members of any value.
func only(names string) *form {
	f := &form{members: map[string]*form{}}
	for _, name := range strings.Fields(names) {
		f.members[name] = nil
	}
	return f
}

// with is an object with members of any value, and others that are closed themselves.
func (f *form) with(more map[string]*form) *form {
	maps.Copy(f.members, more)
	return f
}

// chatForm is OpenAI's chat completions with what compatible servers add: reasoning in its three spellings, its
// switches, cache marks, and the usage and routing of OpenRouter.
func chatForm() *form {
	mark := only("type ttl")
	part := &form{kinds: map[string]*form{
		"text":      only("type text").with(map[string]*form{"cache_control": mark}),
		"image_url": only("type").with(map[string]*form{"image_url": only("url detail")}),
		"file":      only("type").with(map[string]*form{"file": only("filename file_data")}),
	}}
	call := only("id type index extra_content").with(map[string]*form{"function": only("name arguments")})
	message := only("role name tool_call_id reasoning_content reasoning reasoning_details").with(map[string]*form{"content": part, "tool_calls": call, "cache_control": mark})
	tool := only("type").with(map[string]*form{"function": only("name description parameters strict"), "cache_control": mark})
	return only(`model stream tool_choice parallel_tool_calls temperature top_p top_k seed stop max_tokens max_completion_tokens
		reasoning_effort verbosity prompt_cache_key service_tier user metadata store enable_thinking provider`).with(map[string]*form{
		"messages": message, "tools": tool, "response_format": {kinds: map[string]*form{"text": only("type"), "json_object": only("type"), "json_schema": only("type").with(map[string]*form{"json_schema": only("name description strict schema")})}},
		"stream_options": only("include_usage"), "reasoning": only("effort max_tokens enabled exclude"),
		"usage": only("include"), "thinking": only("type"), "chat_template_kwargs": only("enable_thinking"),
	})
}

// messagesForm is Anthropic's Messages.
func messagesForm() *form {
	mark := only("type ttl")
	marked := func(f *form) *form { return f.with(map[string]*form{"cache_control": mark}) }
	words := marked(only("type text citations"))
	source := only("type media_type data")
	shown := map[string]*form{"text": words, "image": marked(only("type").with(map[string]*form{"source": source})), "document": marked(only("type title").with(map[string]*form{"source": source}))}
	tool := marked(only("type name description input_schema eager_input_streaming defer_loading strict max_uses allowed_domains blocked_domains user_location"))
	block := &form{kinds: map[string]*form{
		"tool_result": marked(only("type tool_use_id is_error").with(map[string]*form{"content": {kinds: shown}})),
		"tool_use":    marked(only("type id name input caller")),
		"thinking":    only("type thinking signature"), "redacted_thinking": only("type data"),
		"server_tool_use": marked(only("type id name input caller")), "web_search_tool_result": marked(only("type tool_use_id content caller")),
		"fallback": nil, "compaction": nil, // goes back as it came
		"tool_addition": only("type").with(map[string]*form{"tool": only("type name").with(map[string]*form{"definition": tool})}),
		"tool_removal":  only("type").with(map[string]*form{"tool": only("type name")}),
	}}
	maps.Copy(block.kinds, shown)
	return marked(only("model max_tokens stream temperature top_p top_k stop_sequences service_tier container context_management").with(map[string]*form{
		"messages": only("role").with(map[string]*form{"content": block}), "system": words, "tools": tool,
		"tool_choice": only("type name disable_parallel_tool_use"), "metadata": only("user_id"), "output_config": only("effort").with(map[string]*form{"format": {kinds: map[string]*form{"json_schema": only("type schema")}}}),
		"thinking": only("type budget_tokens display").with(map[string]*form{"block_binding": only("prefix_mismatch_behavior")}),
	}))
}

// responsesForm is OpenAI's Responses.
func responsesForm() *form {
	part := &form{kinds: map[string]*form{
		"input_text": only("type text"), "output_text": only("type text annotations logprobs"), "refusal": only("type refusal"),
		"input_image": only("type image_url detail"), "input_file": only("type filename file_data"), "summary_text": only("type text"), "reasoning_text": only("type text"),
	}}
	item := &form{kinds: map[string]*form{
		"message":                 only("type role status phase").with(map[string]*form{"content": part}),
		"reasoning":               only("type encrypted_content status").with(map[string]*form{"summary": part, "content": part}),
		"function_call":           only("type call_id name arguments status namespace"),
		"function_call_output":    only("type call_id status").with(map[string]*form{"output": part}),
		"custom_tool_call":        only("type call_id name input status namespace"),
		"custom_tool_call_output": only("type call_id status").with(map[string]*form{"output": part}),
		"web_search_call":         only("type status").with(map[string]*form{"action": only("type query queries url pattern").with(map[string]*form{"sources": only("type url")})}),
		"tool_search_call":        nil, "tool_search_output": nil, "compaction": nil, // goes back as it came
	}}
	tool := &form{kinds: map[string]*form{
		"function":   only("type name description parameters strict"),
		"custom":     only("type name description").with(map[string]*form{"format": only("type syntax definition")}),
		"web_search": only("type"),
	}}
	return only(`model instructions tool_choice parallel_tool_calls stream store include temperature top_p max_output_tokens prompt_cache_key prompt_cache_retention
		truncation metadata service_tier user`).with(map[string]*form{
		"input": item, "tools": tool, "reasoning": only("effort summary context"), "text": only("verbosity").with(map[string]*form{"format": {kinds: map[string]*form{"text": only("type"), "json_object": only("type"), "json_schema": only("type name description strict schema")}}}), "stream_options": only("include_obfuscation"),
	})
}
