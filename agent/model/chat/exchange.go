package chat

import (
	"encoding/json"

	"jcode/agent/model"
	"jcode/agent/model/endpoint"
)

// exchange is what one request learns about its answer.
type exchange struct {
	*endpoint.Exchange

	model   []byte // JSON text
	tier    string // the service tier, if it is not the standard one
	sawDone bool
	usage   model.Usage
	counted bool           // usage has arrived
	details []string       // elements of reasoning_details
	message string         // extra_content of the message
	extras  map[int]string // extra_content of calls, by their index
}

// keepWithCall records what must be sent back with a call.
func (x *exchange) keepWithCall(call int, extra []byte) {
	if !json.Valid(extra) {
		return
	}
	if x.extras == nil {
		x.extras = map[int]string{}
	}
	x.extras[call] = string(extra)
}
