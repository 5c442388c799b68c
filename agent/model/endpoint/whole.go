package endpoint

import "jcode/agent/model"

// Sign names the origin of an answer's opaque parts: only that protocol, provider and model understand them.
func (e *Endpoint) Sign(resp *model.Response, protocol, id string) {
	for i := range resp.Opaque {
		o := &resp.Opaque[i]
		o.Protocol, o.Provider, o.Model = protocol, e.Config.Name, id
	}
}

// Estimate counts the tokens of an exchange whose provider does not. body is the request.
func Estimate(body []byte, resp *model.Response) model.Usage {
	out := len(resp.Text) + len(resp.Reasoning)
	for i := range resp.Calls {
		out += len(resp.Calls[i].Arguments) + len(resp.Calls[i].Name)
	}
	return model.Usage{Input: model.EstimateBytes(len(body)), Output: model.EstimateBytes(out), Estimated: true}
}
