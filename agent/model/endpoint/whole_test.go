package endpoint_test

import (
	"testing"

	"jcode/agent/model"
	"jcode/agent/model/endpoint"
)

func TestEstimateCountsWhatACallIsMadeOf(t *testing.T) {
	body := make([]byte, 4000)
	none := endpoint.Estimate(body, &model.Response{})
	call := endpoint.Estimate(body, &model.Response{Calls: []model.Call{{Name: "write", Arguments: string(make([]byte, 4000))}}})
	if none.Output != 0 || call.Output < call.Input || none.Input != call.Input || !call.Estimated {
		t.Errorf("an empty answer counts %+v, one call %+v", none, call)
	}
}
