package endpoint

import (
	"strings"
)

// finishReason puts the reasons of several providers into OpenAI's words. A reason that is
// none of them stays, so that it can be named.
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

// BrokenFinish reports whether a finish reason says that the server failed in the middle of
// its answer: the same request may pass.
func BrokenFinish(reason string) bool {
	switch reason {
	case "error", "abort", "aborted", "network_error", "insufficient_system_resource", "malformed_function_call", "cancelled", "timeout":
		return true
	}
	return false
}
