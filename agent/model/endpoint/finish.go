package endpoint

import (
	"strings"
)

// finishReason maps the reasons of several providers to OpenAI's words. An unknown reason is returned
// unchanged, so that it can be shown.
func finishReason(s string) string {
	s = strings.ToLower(s)
	switch s {
	case "function_call", "tool_use", "tool_call":
		return "tool_calls"
	case "max_tokens", "model_length", "max_output_tokens":
		return "length"
	case "end_turn", "stop_sequence", "eos", "complete", "completed", "finish_reason_unspecified", "null":
		return "stop"
	case "safety", "recitation", "sensitive", "refusal", "prohibited_content", "blocklist", "spii":
		return "content_filter"
	}
	if strings.HasPrefix(s, "content_filter") {
		return "content_filter"
	}
	return s
}

// BrokenFinish reports whether a finish reason says that the server failed in the middle of its answer: the
// same request may succeed.
func BrokenFinish(reason string) bool {
	switch reason {
	case "error", "abort", "aborted", "network_error", "insufficient_system_resource", "malformed_function_call", "cancelled", "timeout":
		return true
	}
	return false
}
