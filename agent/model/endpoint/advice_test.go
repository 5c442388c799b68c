package endpoint_test

import (
	"fmt"
	"strings"
	"testing"

	"jcode/agent/model/endpoint"
)

func TestAdviceIsNotPartOfARefusal(t *testing.T) {
	for _, c := range []struct{ message, refused, not string }{
		{`"thinking.type.disabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.`, "thinking.type.disabled", "adaptive"},
		{"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.", "'max_tokens'", "max_completion_tokens"},
		{"`temperature` is deprecated, please use `effort`", "temperature", "effort"},
		{"thinking.type: Input should be 'adaptive'", "thinking.type", "adaptive"},
		{"tools.0.custom.eager_input_streaming: Extra inputs are not permitted", "eager_input_streaming", "instead"},
		{"stream_options is unknown (did you mean stream?); see https://example.com/reasoning_effort", "stream_options", "reasoning_effort"},
		{"Invalid value: 'reasoning'. Supported values are: 'text', 'image'.", "'reasoning'", "image"},
	} {
		got := endpoint.ReadFault(fmt.Appendf(nil, `{"error":{"message":%q}}`, c.message)).Refused()
		if !strings.Contains(got, c.refused) || strings.Contains(got, c.not) {
			t.Errorf("%s: %q", c.message, got)
		}
	}
}
