package catalogue_test

import (
	"math"
	"os"
	"strconv"
	"strings"
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

func TestAPriceBelongsToOneModelOnly(t *testing.T) {
	list, err := os.ReadFile("testdata/ids.txt")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(list)) {
		f := strings.Fields(line)
		if len(f) != 3 || f[0] == "#" {
			continue
		}
		n++
		info, _ := catalogue.Lookup(f[0], nil)
		input, _ := strconv.ParseFloat(f[1], 64)
		output, _ := strconv.ParseFloat(f[2], 64)
		if math.Abs(info.Input-input) > 1e-9 || math.Abs(info.Output-output) > 1e-9 || info.Priced() != (f[1] != "-") {
			t.Errorf("%s: %v in, %v out; want %s, %s", f[0], info.Input, info.Output, f[1], f[2])
		}
		if _, known := info.Cost(model.Usage{Input: 1000}); known != info.Priced() {
			t.Errorf("%s: a cost of an unknown price, or none of a known one", f[0])
		}
	}
	if n < 120 {
		t.Errorf("%d IDs", n)
	}
}

func TestCostsFollowTheTermsOfThePrice(t *testing.T) {
	const million = 1_000_000
	for name, c := range map[string]struct {
		id   string
		u    model.Usage
		want float64 // below 0: unknown
	}{
		"short":                    {"gpt-6-sol", model.Usage{Input: 200_000, Output: 10_000}, 0.4 + 0.1},
		"long doubles all of it":   {"gpt-6-sol", model.Usage{Input: 300_000, Cached: 100_000, Output: 10_000}, 2*(0.4+0.02) + 1.5*0.1},
		"cache writes":             {"gpt-6-sol", model.Usage{Input: 100_000, Written: 100_000}, 0.25},
		"flex":                     {"gpt-6-sol", model.Usage{Input: 100_000, Tier: "flex"}, 0.1},
		"priority":                 {"gpt-6-sol", model.Usage{Input: 100_000, Tier: "priority"}, 0.4},
		"a tier that is not known": {"gpt-6-sol", model.Usage{Input: 100_000, Tier: "ultrafast"}, -1},
		"the standard tier":        {"gpt-6-sol", model.Usage{Input: 100_000, Tier: "default"}, 0.2},
		"Claude, minutes and hour": {"claude-opus-5-5", model.Usage{Input: 3 * million, Cached: million, Written: million, WrittenHour: million}, 0.2 + 5 + 8},
		"Claude, fast":             {"claude-opus-5-5", model.Usage{Input: million, Tier: "fast"}, 8},
		"Haiku, long":              {"claude-haiku-5-5", model.Usage{Input: 200_000, Output: 10_000}, 5 * (0.02 + 0.005)},
		"Gemini, long":             {"gemini-2.5-pro", model.Usage{Input: 300_000, Output: 10_000}, 0.75 + 0.15},
		"searches read again":      {"gpt-6-sol", model.Usage{Input: 400_000, Searches: 3}, 0.8 + 0.03},
	} {
		info, _ := catalogue.Lookup(c.id, nil)
		got, known := info.Cost(c.u)
		if known != (c.want >= 0) || known && math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %v %v, want %v", name, got, known, c.want)
		}
	}
}

func TestATableOfModelsIsCheckedAndHoldsForEveryIDOfItsModels(t *testing.T) {
	table, err := catalogue.ParseTable([]byte(`{"date":"2026-11-28","source":"a page","models":[
		{"id":"gpt-7","window":2000000,"input":3,"output":9,"cached":0.3,"cache_write":4,"long":{"above":100,"input":2,"output":2},"tiers":{"flex":0.5}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	own := table.Own()
	for _, id := range []string{"gpt-7", "openai/gpt-7", "gpt-7-2026-11-27"} {
		info, ok := catalogue.Lookup(id, own)
		if cost, known := info.Cost(model.Usage{Input: 200, Written: 200, Tier: "flex"}); !ok || !known || info.Window != 2_000_000 || math.Abs(cost-2*200*4*0.5/1e6) > 1e-12 {
			t.Errorf("%s: %+v %v", id, info, cost)
		}
	}
	if info, _ := catalogue.Lookup("gpt-7-pro", own); info.Priced() {
		t.Errorf("%+v", info)
	}
	for bad, says := range map[string]string{
		`[]`: "not a table", `{"date":"soon","source":"x","models":[{"id":"a"}]}`: "date", `{"date":"2026-11-28","models":[{"id":"a"}]}`: "source",
		`{"date":"2026-11-28","source":"x","models":[{"id":"a","input":1}]}`: "models[0] (a): input and output", `{"date":"2026-11-28","source":"x","models":[{"id":"a"},{"id":"x/a"}]}`: "second row",
		`{"date":"2026-11-28","source":"x","models":[{"id":"a","prices":1}]}`: "prices",
	} {
		if _, err := catalogue.ParseTable([]byte(bad)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}
