package catalogue_test

import (
	"testing"

	"jcode/agent/model"
	"jcode/agent/model/catalogue"
)

func TestCatalogueKnowsModels(t *testing.T) {
	own := map[string]catalogue.Info{"gpt-5.2": {Window: 1000}, "mine": {Window: 5, Input: 1, Output: 2}}
	for id, window := range map[string]int{
		"gpt-5.2": 1000, "gpt-5.2-codex": 400_000, "openai/gpt-5.2": 400_000, "anthropic/claude-opus-4-6": 1_000_000, "claude-opus-4-1": 200_000, "models/gemini-2.5-pro": 1_048_576,
		"qwen3-coder:30b": 262_144, "GPT-4o-2024": 128_000, "mine": 5, "nobody": 0,
	} {
		info, ok := catalogue.Lookup(id, own)
		if info.Window != window || ok != (window > 0) {
			t.Errorf("%s: %+v %v", id, info, ok)
		}
	}
	info, _ := catalogue.Lookup("gpt-5.2", own)
	if cost, ok := info.Cost(model.Usage{Input: 1_000_000, Cached: 400_000, Output: 100_000}); !ok || cost < 2.5199 || cost > 2.5201 {
		t.Errorf("cost %v", cost) // 0.6×1.75 + 0.4×0.175 + 0.1×14
	}
	if _, ok := (catalogue.Info{}).Cost(model.Usage{Input: 1}); ok {
		t.Error("an unknown price gives a cost")
	}
}

func TestSearchesOfTheWebAreCharged(t *testing.T) {
	info, ok := catalogue.Lookup("gpt-5.2", nil)
	without, _ := info.Cost(model.Usage{Input: 1000, Output: 10})
	with, known := info.Cost(model.Usage{Input: 1000, Output: 10, Searches: 3})
	if diff := with - without; !ok || !known || diff < 0.0299 || diff > 0.0301 {
		t.Errorf("three searches cost %v", diff)
	}
	if named, _ := info.Cost(model.Usage{Searches: 3, Cost: 0.5}); named != 0.5 {
		t.Errorf("a price that the provider names holds: %v", named)
	}
}
