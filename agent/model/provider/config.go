package provider

import (
	"time"

	"jcode/agent/model/catalogue"
)

// Config says how an endpoint is reached and what it wants.
type Config struct {
	// Name is the preset's or the config's name for it: "openai", "ollama", "work".
	Name string
	// BaseURL is the address under which /chat/completions lies; it usually ends in /v1.
	BaseURL string
	// KeyEnv names the environment variable that holds the key.
	KeyEnv string
	// Key is the key itself.
	Key Secret
	// Token is a key that is sent as a bearer token alone, as gateways want it.
	Token Secret
	// TokenEnv names the environment variable that holds it.
	TokenEnv string
	// Protocol is how the endpoint is spoken to: Chat, Responses or Messages; "" is Chat.
	Protocol Protocol
	// Cache says how long the prompt cache is kept where that can be said: "5m" (also ""),
	// "1h" or "off".
	Cache string
	// Search lets the provider search the web while it answers, over Responses and Messages.
	Search bool
	// KeyHeader names a header that bears the key besides Authorization.
	KeyHeader string
	// Headers are sent with each request.
	Headers map[string]string
	// ExtraBody are fields of the request's body that only this provider knows; they win
	// over jcode's own of the same name.
	ExtraBody map[string]any
	// Local endpoints need no key and listen on this machine.
	Local bool
	// Prefer lists the models that are chosen first when none is named, as prefixes.
	Prefer []string
	// Quirks are the provider's habits.
	Quirks Quirks
	// Limits bound waiting and trying again; zero values mean the defaults.
	Limits Limits
	// Models adds to the catalogue, or corrects it, for models of this provider.
	Models map[string]catalogue.Info
}

// Protocol is a language of model endpoints.
type Protocol string

// The protocols.
const (
	Chat      Protocol = "chat"      // OpenAI's chat completions
	Responses Protocol = "responses" // OpenAI's Responses
	Messages  Protocol = "messages"  // Anthropic's Messages
)

// Quirks are the habits of a provider; nil means as the preset says, or no. What is not
// said here is found out from its refusals: once, and then remembered by the client.
type Quirks struct {
	// DeveloperRole sends the system prompt under the role "developer".
	DeveloperRole *bool
	// MaxCompletionTokens calls the output limit max_completion_tokens.
	MaxCompletionTokens *bool
	// NoStreamOptions leaves stream_options out.
	NoStreamOptions *bool
	// Strict marks tool schemas as strict.
	Strict *bool
	// SimpleSchemas sends tool schemas without references, formats and look-around patterns:
	// what schema.Simple makes of them.
	SimpleSchemas *bool
	// NoTemperature leaves temperature and top_p out.
	NoTemperature *bool
	// NoImages replaces images by a note.
	NoImages *bool
	// ReasoningBack sends reasoning back as reasoning_content.
	ReasoningBack *bool
	// ThinkOpen says that answers begin inside a <think> block without its opening tag.
	ThinkOpen *bool
	// AlternateTurns joins messages of one side that follow each other, and puts an answer
	// between a tool's result and the next message of the person.
	AlternateTurns *bool
	// CappedCallIDs sends call ids of at most 40 characters.
	CappedCallIDs *bool
	// ShortCallIDs sends call ids of nine letters and digits.
	ShortCallIDs *bool
	// CacheMarkers are prefixes of model IDs for which prompt cache markers are sent; ""
	// matches all.
	CacheMarkers []string
}

// Yes reads a quirk.
func Yes(b *bool) bool { return b != nil && *b }

// Limits bound waiting and trying again.
type Limits struct {
	// Idle ends a request whose server says nothing for so long (default 120 s). The first
	// data may take two and a half times as long.
	Idle time.Duration
	// Attempts is how often a request is sent at most (default 5).
	Attempts int
	// Backoff is the wait before the second attempt (default 0.5 s); it doubles, up to
	// MaxBackoff (default 30 s).
	Backoff    time.Duration
	MaxBackoff time.Duration
	// MaxWait is the longest wait that a server may ask for (default 10 min); more fails
	// at once.
	MaxWait time.Duration
}

// WithDefaults returns the limits with the default for each that is not set.
func (l Limits) WithDefaults() Limits {
	or := func(v *time.Duration, d time.Duration) {
		if *v <= 0 {
			*v = d
		}
	}
	or(&l.Idle, 120*time.Second)
	or(&l.Backoff, 500*time.Millisecond)
	or(&l.MaxBackoff, 30*time.Second)
	or(&l.MaxWait, 10*time.Minute)
	if l.Attempts <= 0 {
		l.Attempts = 5
	}
	return l
}
