package provider

import (
	"time"

	"jcode/agent/model/catalogue"
	"jcode/internal/launch"
)

// Config says how an endpoint is reached and what it expects.
type Config struct {
	// Name is the preset's or the config's name for it: "openai", "ollama", "work".
	Name string
	// BaseURL is the address below which /chat/completions is found; it usually ends in /v1. Its query is part of
	// every request's, {model} in it stands for the model's ID, and ${VAR} for a variable of the environment.
	BaseURL string
	// KeyEnv names the environment variable that holds the key.
	KeyEnv string
	// Key is the key itself.
	Key Secret
	// Token is a key that is sent only as a bearer token, as gateways expect.
	Token Secret
	// TokenEnv names the environment variable that holds it.
	TokenEnv string
	// Protocol is the protocol of the endpoint: Chat, Responses, Messages or Gemini; "" means Chat.
	Protocol Protocol
	// Cache says how long the prompt cache is kept if that can be set: "5m" (also ""), "1h" or "off".
	Cache string
	// Search lets the provider search the web while it answers, over Responses and Messages.
	Search bool
	// KeyHeader names the header that carries the key in place of Authorization.
	KeyHeader string
	// KeyCommand is a program with its arguments that writes the key; it runs when a key is needed, and again when that
	// has expired.
	KeyCommand []string
	// Cloud is the cloud that serves the models, "" for a provider of its own.
	Cloud Cloud
	// Region, Project and Profile are what a cloud wants to know: where, on whose account, with which credentials.
	Region, Project, Profile string
	// Preset names the preset that a provider of another name begins with.
	Preset string
	// Unlisted says that the endpoint's list of models does not name those that may be asked.
	Unlisted bool
	// Programs starts KeyCommand.
	Programs launch.Programs `json:"-"`
	// Getenv reads the environment, in which credentials of a cloud may be.
	Getenv func(string) string `json:"-"`
	// Headers are sent with each request; ${VAR} in them stands for a variable of the environment.
	Headers map[string]string
	// ExtraBody are fields of the request's body that only this provider knows; they take precedence over
	// jcode's own of the same name.
	ExtraBody map[string]any
	// Local endpoints need no key and listen on this machine.
	Local bool
	// Prefer lists prefixes of the models that are preferred when none is named.
	Prefer []string
	// Quirks are the provider's peculiarities.
	Quirks Quirks
	// Limits bound waits and retries; zero values mean the defaults.
	Limits Limits
	// Models adds to the catalogue, or corrects it, for models of this provider.
	Models map[string]catalogue.Info
}

// Protocol is a protocol of model endpoints.
type Protocol string

// The protocols.
const (
	Chat      Protocol = "chat"      // OpenAI's chat completions
	Responses Protocol = "responses" // OpenAI's Responses
	Messages  Protocol = "messages"  // Anthropic's Messages
	Gemini    Protocol = "gemini"    // Google's generateContent
)

// Cloud is a cloud that serves models of several makers, in an envelope of its own.
type Cloud string

// The clouds.
const (
	Azure   Cloud = "azure"
	Bedrock Cloud = "bedrock"
	Vertex  Cloud = "vertex"
)

// Quirks are the peculiarities of a provider; nil means what the preset says, or no. Anything else is learned
// from its refusals: once, and then remembered by the client.
type Quirks struct {
	// DeveloperRole sends the system prompt under the role "developer".
	DeveloperRole *bool
	// MaxCompletionTokens calls the output limit max_completion_tokens.
	MaxCompletionTokens *bool
	// NoStreamOptions omits stream_options.
	NoStreamOptions *bool
	// Strict marks tool schemas as strict.
	Strict *bool
	// SimpleSchemas sends tool schemas without references, formats and look-around patterns, as schema.Simple
	// produces them.
	SimpleSchemas *bool
	// AnswerSchemas sends the schema that an answer shall fit.
	AnswerSchemas *bool
	// NoTemperature omits temperature and top_p.
	NoTemperature *bool
	// NoImages replaces images with a note.
	NoImages *bool
	// ReasoningBack sends reasoning back as reasoning_content.
	ReasoningBack *bool
	// ThinkOpen says that answers begin inside a <think> block without its opening tag.
	ThinkOpen *bool
	// AlternateTurns joins consecutive messages of one side, and inserts an answer between a tool's result and
	// the next user message.
	AlternateTurns *bool
	// CappedCallIDs sends call ids of at most 40 characters.
	CappedCallIDs *bool
	// ShortCallIDs sends call ids of nine letters and digits.
	ShortCallIDs *bool
	// CacheMarkers are prefixes of model IDs for which prompt cache markers are sent; ""
	// matches all.
	CacheMarkers []string
}

// Yes reports whether a quirk is set to true.
func Yes(b *bool) bool { return b != nil && *b }

// Limits bound waits and retries.
type Limits struct {
	// Idle ends a request whose server is silent for this long (default 120 s). The first data may take two and
	// a half times as long.
	Idle time.Duration
	// Attempts is how often a request is sent at most (default 5).
	Attempts int
	// Backoff is the wait before the second attempt (default 0.5 s); it doubles, up to
	// MaxBackoff (default 30 s).
	Backoff    time.Duration
	MaxBackoff time.Duration
	// MaxWait is the longest wait that a server may ask for (default 10 min); a longer one fails at once.
	MaxWait time.Duration
}

// WithDefaults returns the limits with defaults for those that are not set.
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
