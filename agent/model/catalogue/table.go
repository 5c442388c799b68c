package catalogue

// entry is a model, or a family of models whose IDs begin with name.
type entry struct {
	name string
	Info
}

// Habits of the makers' models.
var (
	none       = Habits{}
	writes     = Habits{Writes: true}
	thinksBack = Habits{ThinksBack: true}
	patches    = Habits{Patches: true}
)

// catalogue holds list prices as published in autumn 2026; config corrects what has changed since. It is
// plain data, so it costs nothing at start.
var catalogue = [...]entry{
	{"gpt-6-astra", Info{1_050_000, 128_000, 10, 50, 1, true, true, patches}},
	{"gpt-5.6", Info{1_050_000, 128_000, 2, 10, 0.2, true, true, patches}},
	{"gpt-5.6-luna", Info{1_050_000, 128_000, 1, 6, 0.1, true, true, patches}},
	{"gpt-5.5", Info{1_050_000, 128_000, 5, 30, 0.5, true, true, patches}},
	{"gpt-5.4", Info{1_050_000, 128_000, 2.5, 15, 0.25, true, true, patches}},
	{"gpt-5.3-codex", Info{400_000, 128_000, 1.75, 14, 0.175, true, true, patches}},
	{"gpt-5.2", Info{400_000, 128_000, 1.75, 14, 0.175, true, true, patches}},
	{"gpt-5.1", Info{400_000, 128_000, 1.25, 10, 0.125, true, true, patches}},
	{"gpt-5", Info{400_000, 128_000, 1.25, 10, 0.125, true, true, patches}},
	{"gpt-5-mini", Info{400_000, 128_000, 0.25, 2, 0.025, true, true, patches}},
	{"gpt-5-nano", Info{400_000, 128_000, 0.05, 0.4, 0.005, true, true, patches}},
	{"gpt-4.1", Info{1_047_576, 32_768, 2, 8, 0.5, true, false, patches}},
	{"gpt-4.1-mini", Info{1_047_576, 32_768, 0.4, 1.6, 0.1, true, false, patches}},
	{"gpt-4.1-nano", Info{1_047_576, 32_768, 0.1, 0.4, 0.025, true, false, patches}},
	{"gpt-4o", Info{128_000, 16_384, 2.5, 10, 1.25, true, false, none}},
	{"gpt-4o-mini", Info{128_000, 16_384, 0.15, 0.6, 0.075, true, false, none}},
	{"o3", Info{200_000, 100_000, 2, 8, 0.5, true, true, patches}},
	{"o4-mini", Info{200_000, 100_000, 1.1, 4.4, 0.275, true, true, patches}},

	{"claude-opus-5-5", Info{1_000_000, 128_000, 4, 20, 0.2, true, true, writes}},
	{"claude-opus-5", Info{1_000_000, 128_000, 5, 25, 0.5, true, true, writes}},
	{"claude-sonnet-5-5", Info{1_000_000, 128_000, 2, 10, 0.1, true, true, writes}},
	{"claude-sonnet-5", Info{1_000_000, 128_000, 2, 10, 0.2, true, true, writes}},
	{"claude-opus-4", Info{200_000, 32_000, 15, 75, 1.5, true, true, writes}},
	{"claude-opus-4-5", Info{200_000, 64_000, 5, 25, 0.5, true, true, writes}},
	{"claude-opus-4-6", Info{1_000_000, 128_000, 5, 25, 0.5, true, true, writes}},
	{"claude-opus-4-7", Info{1_000_000, 128_000, 5, 25, 0.5, true, true, writes}},
	{"claude-opus-4-8", Info{1_000_000, 128_000, 5, 25, 0.5, true, true, writes}},
	{"claude-sonnet-4", Info{200_000, 64_000, 3, 15, 0.3, true, true, writes}},
	{"claude-haiku-4", Info{200_000, 64_000, 1, 5, 0.1, true, true, writes}},

	{"gemini-3.8-flash", Info{1_048_576, 65_536, 0.75, 3.75, 0.075, true, true, none}},
	{"gemini-3.5-flash", Info{1_048_576, 65_536, 1.5, 9, 0.15, true, true, none}},
	{"gemini-3.1-pro", Info{1_048_576, 65_536, 2, 12, 0.2, true, true, none}},
	{"gemini-3-pro", Info{1_048_576, 65_536, 2, 12, 0.2, true, true, none}},
	{"gemini-3", Info{1_048_576, 65_536, 0, 0, 0, true, true, none}},
	{"gemini-2.5-pro", Info{1_048_576, 65_536, 1.25, 10, 0.125, true, true, none}},
	{"gemini-2.5-flash", Info{1_048_576, 65_536, 0.3, 2.5, 0.03, true, true, none}},

	{"deepseek-v4-pro", Info{1_000_000, 0, 1.32, 3.96, 0.044, false, true, thinksBack}},
	{"deepseek-v4-flash", Info{1_000_000, 0, 0.22, 0.66, 0.007, false, true, thinksBack}},
	{"deepseek-chat", Info{1_000_000, 8_192, 0.28, 0.42, 0.028, false, false, thinksBack}},
	{"deepseek-reasoner", Info{1_000_000, 64_000, 0.28, 0.42, 0.028, false, true, thinksBack}},

	{"grok-4.7", Info{0, 0, 2, 6, 0.5, true, true, none}},
	{"grok-4", Info{256_000, 8_192, 3, 15, 0.75, true, true, none}},
	{"grok-code-fast", Info{256_000, 10_000, 0.2, 1.5, 0.02, false, true, none}},

	{"devstral", Info{262_144, 0, 0.4, 2, 0, false, false, none}},
	{"mistral-medium", Info{128_000, 0, 1.5, 7.5, 0, true, false, none}},
	{"codestral", Info{256_000, 0, 0.3, 0.9, 0, false, false, none}},

	// Open weights: the window is the model's own, the price is that of whoever hosts it.
	{"gpt-oss", Info{131_072, 0, 0, 0, 0, false, true, patches}},
	{"qwen3-coder", Info{262_144, 0, 0, 0, 0, false, false, none}},
	{"qwen3", Info{131_072, 0, 0, 0, 0, false, true, none}},
	{"qwen2.5-coder", Info{131_072, 0, 0, 0, 0, false, false, none}},
	{"kimi-k2", Info{262_144, 0, 0, 0, 0, false, false, thinksBack}},
	{"kimi-k3", Info{262_144, 0, 0, 0, 0, true, true, thinksBack}},
	{"minimax-m", Info{204_800, 0, 0, 0, 0, false, true, thinksBack}},
	{"glm-4", Info{131_072, 0, 0, 0, 0, false, true, thinksBack}},
	{"glm-5", Info{200_000, 0, 0, 0, 0, false, true, thinksBack}},
	{"llama-3", Info{131_072, 0, 0, 0, 0, false, false, none}},
	{"llama3", Info{131_072, 0, 0, 0, 0, false, false, none}},
}
