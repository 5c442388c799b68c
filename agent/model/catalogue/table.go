package catalogue

// entry is a model, or a family of models whose IDs begin with name.
type entry struct {
	name string
	Info
}

// Habits of the makers' models.
var (
	thinksBack = Habits{ThinksBack: true}
	patches    = Habits{Patches: true}
)

// catalogue holds what the members of a family have in common. Their prices differ, and stand in prices. It is plain
// data, so it costs nothing at start.
var catalogue = [...]entry{
	{"gpt-6.2", Info{Window: 1_050_000, MaxOutput: 128_000, Images: true, Reasons: true, Habits: patches}},
	{"gpt-6.1", Info{Window: 1_050_000, MaxOutput: 128_000, Images: true, Reasons: true, Habits: patches}},
	{"gpt-6-sol", Info{Window: 1_050_000, MaxOutput: 128_000, Images: true, Reasons: true, Habits: patches}},
	{"gpt-6-luna", Info{Window: 1_050_000, MaxOutput: 128_000, Images: true, Reasons: true, Habits: patches}},
	{"gpt-6-astra", Info{Window: 1_050_000, MaxOutput: 128_000, Images: true, Reasons: true, Habits: patches}},
	{"gpt-5.6", Info{Window: 1_050_000, MaxOutput: 128_000, Images: true, Reasons: true, Habits: patches}},
	{"gpt-5.6-luna", Info{Window: 1_050_000, MaxOutput: 128_000, Images: true, Reasons: true, Habits: patches}},
	{"gpt-5.5", Info{Window: 1_050_000, MaxOutput: 128_000, Images: true, Reasons: true, Habits: patches}},
	{"gpt-5.4-mini", Info{Window: 400_000, MaxOutput: 128_000, Images: true, Reasons: true, Habits: patches}},
	{"gpt-5.4-nano", Info{Window: 400_000, MaxOutput: 128_000, Images: true, Reasons: true, Habits: patches}},
	{"gpt-5.4", Info{Window: 1_050_000, MaxOutput: 128_000, Images: true, Reasons: true, Habits: patches}},
	{"gpt-5.3-codex", Info{Window: 400_000, MaxOutput: 128_000, Images: true, Reasons: true, Habits: patches}},
	{"gpt-5.2", Info{Window: 400_000, MaxOutput: 128_000, Images: true, Reasons: true, Habits: patches}},
	{"gpt-5.1", Info{Window: 400_000, MaxOutput: 128_000, Images: true, Reasons: true, Habits: patches}},
	{"gpt-5", Info{Window: 400_000, MaxOutput: 128_000, Images: true, Reasons: true, Habits: patches}},
	{"gpt-5-mini", Info{Window: 400_000, MaxOutput: 128_000, Images: true, Reasons: true, Habits: patches}},
	{"gpt-5-nano", Info{Window: 400_000, MaxOutput: 128_000, Images: true, Reasons: true, Habits: patches}},
	{"gpt-4.1", Info{Window: 1_047_576, MaxOutput: 32_768, Images: true, Habits: patches}},
	{"gpt-4.1-mini", Info{Window: 1_047_576, MaxOutput: 32_768, Images: true, Habits: patches}},
	{"gpt-4.1-nano", Info{Window: 1_047_576, MaxOutput: 32_768, Images: true, Habits: patches}},
	{"gpt-4o", Info{Window: 128_000, MaxOutput: 16_384, Images: true}},
	{"gpt-4o-mini", Info{Window: 128_000, MaxOutput: 16_384, Images: true}},
	{"o3", Info{Window: 200_000, MaxOutput: 100_000, Images: true, Reasons: true, Habits: patches}},
	{"o4-mini", Info{Window: 200_000, MaxOutput: 100_000, Images: true, Reasons: true, Habits: patches}},

	{"claude-opus-5-5", Info{Window: 1_000_000, MaxOutput: 128_000, Images: true, Reasons: true}},
	{"claude-opus-5", Info{Window: 1_000_000, MaxOutput: 128_000, Images: true, Reasons: true}},
	{"claude-sonnet-5-5", Info{Window: 1_000_000, MaxOutput: 128_000, Images: true, Reasons: true}},
	{"claude-sonnet-5", Info{Window: 1_000_000, MaxOutput: 128_000, Images: true, Reasons: true}},
	{"claude-opus-4", Info{Window: 200_000, MaxOutput: 32_000, Images: true, Reasons: true}},
	{"claude-opus-4-5", Info{Window: 200_000, MaxOutput: 64_000, Images: true, Reasons: true}},
	{"claude-opus-4-6", Info{Window: 1_000_000, MaxOutput: 128_000, Images: true, Reasons: true}},
	{"claude-opus-4-7", Info{Window: 1_000_000, MaxOutput: 128_000, Images: true, Reasons: true}},
	{"claude-opus-4-8", Info{Window: 1_000_000, MaxOutput: 128_000, Images: true, Reasons: true}},
	{"claude-sonnet-4", Info{Window: 200_000, MaxOutput: 64_000, Images: true, Reasons: true}},
	{"claude-sonnet-4-6", Info{Window: 1_000_000, MaxOutput: 64_000, Images: true, Reasons: true}},
	{"claude-haiku-5-5", Info{Window: 1_000_000, MaxOutput: 128_000, Images: true, Reasons: true}},
	{"claude-fable", Info{Window: 1_000_000, MaxOutput: 128_000, Images: true, Reasons: true}},
	{"claude-fable-5", Info{Window: 1_000_000, MaxOutput: 128_000, Images: true, Reasons: true}},
	{"claude-fable-5-1", Info{Window: 1_000_000, MaxOutput: 128_000, Images: true, Reasons: true}},
	{"claude-fable-5-2", Info{Window: 1_000_000, MaxOutput: 128_000, Images: true, Reasons: true}},
	{"claude-mythos", Info{Window: 1_000_000, MaxOutput: 128_000, Images: true, Reasons: true}},
	{"claude-mythos-5", Info{Window: 1_000_000, MaxOutput: 128_000, Images: true, Reasons: true}},
	{"claude-mythos-5-1", Info{Window: 1_000_000, MaxOutput: 128_000, Images: true, Reasons: true}},
	{"claude-mythos-5-2", Info{Window: 1_000_000, MaxOutput: 128_000, Images: true, Reasons: true}},
	{"claude-haiku-4", Info{Window: 200_000, MaxOutput: 64_000, Images: true, Reasons: true}},

	{"gemini-3.8-flash", Info{Window: 1_048_576, MaxOutput: 65_536, Images: true, Reasons: true}},
	{"gemini-3.5-flash", Info{Window: 1_048_576, MaxOutput: 65_536, Images: true, Reasons: true}},
	{"gemini-3.1-pro", Info{Window: 1_048_576, MaxOutput: 65_536, Images: true, Reasons: true}},
	{"gemini-3-pro", Info{Window: 1_048_576, MaxOutput: 65_536, Images: true, Reasons: true}},
	{"gemini-4", Info{Window: 1_048_576, MaxOutput: 65_536, Images: true, Reasons: true}},
	{"gemini-3", Info{Window: 1_048_576, MaxOutput: 65_536, Images: true, Reasons: true}},
	{"gemini-2.5-pro", Info{Window: 1_048_576, MaxOutput: 65_536, Images: true, Reasons: true}},
	{"gemini-2.5-flash", Info{Window: 1_048_576, MaxOutput: 65_536, Images: true, Reasons: true}},

	{"deepseek-v4-pro", Info{Window: 1_000_000, MaxOutput: 0, Reasons: true, Habits: thinksBack}},
	{"deepseek-v4-flash", Info{Window: 1_000_000, MaxOutput: 0, Reasons: true, Habits: thinksBack}},
	{"deepseek-chat", Info{Window: 1_000_000, MaxOutput: 8_192, Habits: thinksBack}},
	{"deepseek-reasoner", Info{Window: 1_000_000, MaxOutput: 64_000, Reasons: true, Habits: thinksBack}},

	{"grok-4.7", Info{Window: 0, MaxOutput: 0, Images: true, Reasons: true}},
	{"grok-4.3", Info{Window: 1_000_000, Images: true, Reasons: true}},
	{"grok-4.5", Info{Window: 500_000, Images: true, Reasons: true}},
	{"grok-4", Info{Window: 256_000, MaxOutput: 8_192, Images: true, Reasons: true}},
	{"grok-code-fast", Info{Window: 256_000, MaxOutput: 10_000, Reasons: true}},

	{"devstral", Info{Window: 262_144, MaxOutput: 0}},
	{"mistral-medium", Info{Window: 128_000, MaxOutput: 0, Images: true}},
	{"codestral", Info{Window: 256_000, MaxOutput: 0}},

	// Open weights: the window is the model's own.
	{"gpt-oss", Info{Window: 131_072, MaxOutput: 0, Reasons: true, Habits: patches}},
	{"qwen3-coder", Info{Window: 262_144, MaxOutput: 0}},
	{"qwen3", Info{Window: 131_072, MaxOutput: 0, Reasons: true}},
	{"qwen2.5-coder", Info{Window: 131_072, MaxOutput: 0}},
	{"kimi-k2", Info{Window: 262_144, MaxOutput: 0, Habits: thinksBack}},
	{"kimi-k3", Info{Window: 262_144, MaxOutput: 0, Images: true, Reasons: true, Habits: thinksBack}},
	{"minimax-m", Info{Window: 204_800, MaxOutput: 0, Reasons: true, Habits: thinksBack}},
	{"glm-4", Info{Window: 131_072, MaxOutput: 0, Reasons: true, Habits: thinksBack}},
	{"glm-5", Info{Window: 200_000, MaxOutput: 0, Reasons: true, Habits: thinksBack}},
	{"llama-3", Info{Window: 131_072, MaxOutput: 0}},
	{"llama3", Info{Window: 131_072, MaxOutput: 0}},
}
