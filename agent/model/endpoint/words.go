package endpoint

import (
	"crypto/sha256"
	"slices"
	"strconv"
	"strings"

	"jcode/agent/model"
)

// said returns a fault's words, code and kind in lower case.
func (f Fault) said() string { return strings.ToLower(f.message + "\n" + f.code + "\n" + f.kind) }

// isKeyFault recognises a refusal of the key under a status other than 401.
func isKeyFault(f Fault) bool {
	return ContainsAny(f.said()+strings.ToLower(f.raw), []string{"api key not valid", "api_key_invalid", "invalid_api_key", "invalid api key", "incorrect api key"})
}

// isQuota recognises an account without credit, by its codes and by unambiguous words. A limit per minute,
// which is temporary, mentions a quota too.
func isQuota(f Fault) bool {
	if f.code == "1113" {
		return true
	}
	if ContainsAny(strings.ToLower(f.code+" "+f.kind), []string{
		"insufficient_quota", "billing", "insufficient_credit", "insufficient_balance", "payment_required", "credits_exhausted",
		"exceeded_current_quota_error", "arrearage",
	}) {
		return true
	}
	return ContainsAny(strings.ToLower(f.message), []string{"credit balance is too low", "used all available credits", "insufficient balance", "account is in good standing"})
}

// isSafety recognises a request that was refused for its content.
func isSafety(f Fault) bool {
	return ContainsAny(f.said(), []string{"safety_check", "safety check", "violates usage guidelines", "content_policy_violation"})
}

// takesNoTools recognises a model, or a route to it, that does not support tools.
func takesNoTools(f Fault) bool {
	return ContainsAny(f.said(), []string{"support tool use", "tools is not supported", "does not support tools", "tools are not supported", "does not support function calling"})
}

// isGone recognises a model that was taken out of service.
func isGone(f Fault) bool {
	return ContainsAny(f.said(), []string{"model_decommissioned", "has been decommissioned", "has been deprecated and", "model has been retired"})
}

// isOverflow recognises a request that is longer than the model's window.
func isOverflow(f Fault) bool {
	if strings.Contains(f.param, "tool_calls") || strings.Contains(f.param, "].id") {
		return false // a call's id is too long
	}
	if ContainsAny(strings.ToLower(f.code+" "+f.kind), []string{"context_length", "exceed_context", "context_window", "string_above_max", "too_many_prompt_tokens", "request_too_large"}) {
		return true
	}
	return ContainsAny(strings.ToLower(f.message), []string{
		"context_length_exceeded", "maximum context length", "context window", "context size",
		"context length", "prompt is too long", "input is too long", "prompt too long",
		"maximum prompt length", "input token count", "exceeds the maximum number of tokens",
		"reduce the length of the messages", "too many tokens", "exceed the context", "exceed context limit", "max_model_len",
		"maximum model length", "model token limit", "exceeds max length", "token count of", "max_new_tokens",
		"range of input length", "input tokens exceeded", "too_many_prompt_tokens",
	}) || strings.Contains(strings.ToLower(f.message), "input length") && strings.Contains(strings.ToLower(f.message), "exceed")
}

// windowIn finds the window, in tokens, in the words of a refusal for length; 0 when they don't say it.
func windowIn(f Fault) int {
	words := strings.ToLower(strings.ReplaceAll(f.message, ",", ""))
	for _, before := range []string{
		"maximum context length is ", "maximum context length of ", "maximum prompt length is ", "maximum model length of ",
		"context length of only ", "maximum number of tokens allowed (", "available context size (", "token limit: ",
		"exceeds the limit of ", " tokens > ", `"n_ctx":`, "input length should be [1 ", "maximum input length of ", "maximum allowed input length is ",
	} {
		for _, text := range []string{words, strings.ReplaceAll(strings.ToLower(f.raw), " ", "")} {
			if _, rest, ok := strings.Cut(text, before); ok {
				if n := LeadingNumber(rest); n >= leastWindow {
					return n
				}
			}
		}
	}
	if _, sum, ok := strings.Cut(words, "context limit: "); ok { // A + B > C
		if _, most, ok := strings.Cut(sum, " > "); ok {
			if n := LeadingNumber(most); n >= leastWindow {
				return n
			}
		}
	}
	if before, _, ok := strings.Cut(words, " maximum context length"); ok {
		if n := LeadingNumber(before[strings.LastIndexByte(before, ' ')+1:]); n >= leastWindow {
			return n
		}
	}
	return 0
}

// leastWindow is the smallest number of tokens that can be a window.
const leastWindow = 256

// LeadingNumber returns the number at the start of s, or 0.
func LeadingNumber(s string) int {
	n, err := strconv.Atoi(s[:len(s)-len(strings.TrimLeft(s, "0123456789"))])
	if err != nil {
		return 0
	}
	return n
}

// badPicture recognises a refusal of one picture, as opposed to pictures in general, and returns the SHA-256
// of the one that it names by its place, else of the newest: the earlier ones were accepted with earlier requests.
func badPicture(f Fault, body []byte, r *model.Request) (sum [sha256.Size]byte, ok bool) {
	if !ContainsAny(f.said(), []string{
		"could not process image", "unable to process input image", "unable to process image", "invalid image", "invalid_image", "image_parse_error",
		"unsupported image format", "unsupported image type", "image format", "decode image", "decode the image", "cannot identify image", "image data", "corrupt",
		"not a valid image", "could not process pdf", "pdf specified was not valid", "pdf specified is password", "pdf pages", "invalid pdf", "could not process file", "failed to process file", "invalid file data", "valid image", "load image", "image exceeds", "image dimensions", "image is too large", "image too large", "image was specified using",
	}) {
		return sum, false
	}
	if sum, ok := pictureAt(f, body, r); ok {
		return sum, true
	}
	for i := len(r.Messages) - 1; i >= 0; i-- {
		if images := r.Messages[i].Images; len(images) > 0 {
			return sha256.Sum256(images[len(images)-1].Data), true
		}
	}
	return sum, false
}

// Whole returns all text of a fault, to search it for words in lower case.
func (f Fault) Whole() string { return f.param + "\n" + f.message + "\n" + f.raw }

// ContainsAny reports whether s contains one of the words.
func ContainsAny(s string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(s, w) })
}
