package anthropic

import (
	"encoding/json"

	"jcode/agent/model"
)

// usage holds the counts of an answer in the API's terms. Each may be sent at the beginning and corrected at
// the end.
type usage struct {
	Input    *int `json:"input_tokens"`
	Output   *int `json:"output_tokens"`
	Read     *int `json:"cache_read_input_tokens"`
	Written  *int `json:"cache_creation_input_tokens"`
	Creation *struct {
		Minutes int `json:"ephemeral_5m_input_tokens"`
		Hour    int `json:"ephemeral_1h_input_tokens"`
	} `json:"cache_creation"`
	ServerTools *struct {
		Searches int `json:"web_search_requests"`
		Fetches  int `json:"web_fetch_requests"`
		Runs     int `json:"code_execution_requests"`
	} `json:"server_tool_use"`
	Tier  string `json:"service_tier"`
	Speed string `json:"speed"`
	// Iterations are the passes of one answer, if the provider made several.
	Iterations []usage `json:"iterations"`
}

// usageOf reads the usage field of an object.
func usageOf(data []byte) usage {
	var holder struct {
		Usage usage `json:"usage"`
	}
	_ = json.Unmarshal(data, &holder) // counts of another form are ignored
	return holder.Usage
}

// update applies later counts.
func (u *usage) update(o usage) {
	set := func(to **int, v *int) {
		if v != nil {
			*to = v
		}
	}
	set(&u.Input, o.Input)
	set(&u.Output, o.Output)
	set(&u.Read, o.Read)
	set(&u.Written, o.Written)
	if o.Creation != nil {
		u.Creation = o.Creation
	}
	if o.ServerTools != nil {
		u.ServerTools = o.ServerTools
	}
	if o.Tier != "" {
		u.Tier = o.Tier
	}
	if o.Speed != "" {
		u.Speed = o.Speed
	}
	if len(o.Iterations) > 0 {
		u.Iterations = o.Iterations
	}
}

// own returns the usage in jcode's terms, without iterations.
func (u *usage) own() model.Usage {
	n := func(v *int) int {
		if v == nil || *v < 0 {
			return 0
		}
		return *v
	}
	out := model.Usage{Input: n(u.Input) + n(u.Read) + n(u.Written), Output: n(u.Output), Cached: n(u.Read), Written: n(u.Written)}
	if u.Creation != nil && u.Creation.Hour > 0 {
		out.WrittenHour = min(u.Creation.Hour, out.Written)
		out.Written -= out.WrittenHour
	}
	return out
}

// last returns the counts of the newest pass: how full the window is.
func (u *usage) last() model.Usage {
	out := u.own()
	if n := len(u.Iterations); n > 1 {
		out = u.Iterations[n-1].own()
	}
	if t := u.ServerTools; t != nil {
		out.Searches = max(t.Searches, 0)
		out.Summed = len(u.Iterations) == 0 && t.Searches+t.Fetches+t.Runs > 0
	}
	switch {
	case u.Speed == "fast":
		out.Tier = u.Speed
	case u.Tier != "standard":
		out.Tier = u.Tier
	}
	return out
}

// before returns the counts of the passes before the newest one: they are billed too.
func (u *usage) before() (out model.Usage) {
	for i := range max(len(u.Iterations)-1, 0) {
		out = out.Plus(u.Iterations[i].own())
	}
	if out != (model.Usage{}) {
		out.Tier = u.last().Tier
	}
	return out
}

// total returns what is billed.
func (u *usage) total() model.Usage { return u.last().Plus(u.before()) }
