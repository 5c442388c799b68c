package modelscli

import (
	"jcode/agent"
	"jcode/agent/model"
	"jcode/agent/model/catalogue"
	"jcode/agent/model/provider"
)

// noSmall is the value of small_model with which the conversation's own model is asked for everything.
const noSmall = "none"

// littleEffort is how much a model thinks about a title.
const littleEffort = "low"

// smaller returns the model that a person named for titles and the like.
func (m *Clients) smaller(name string) (*agent.Small, error) {
	found, err := m.make(name)
	if err != nil {
		return nil, err
	}
	small := &agent.Small{Name: found.Name, ID: found.ID, Client: found.Client, Cost: found.Cost}
	if info, ok := catalogue.Lookup(found.ID, m.options.Own); ok && info.Reasons {
		small.ReasoningEffort = littleEffort
	}
	return small, nil
}

// smallAt returns another model of an endpoint, over the same connections.
func smallAt(client model.Client, p provider.Config, id string) *agent.Small {
	small := &agent.Small{
		Name: p.Name + "/" + id, ID: id, Client: client,
		Cost: func(_ string, u model.Usage) (float64, bool) { return costOf(id, p.Models, u) },
	}
	if info, ok := catalogue.Lookup(id, p.Models); ok && info.Reasons {
		small.ReasoningEffort = littleEffort
	}
	return small
}
