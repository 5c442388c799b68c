package anthropic

import (
	"context"
	"io"
	"net/url"
	"strings"

	"jcode/agent/model"
	"jcode/agent/model/endpoint"
	"jcode/agent/model/provider"
)

// envelope is where Messages are sent: to the maker itself, or to a cloud that serves its models at addresses with
// their names.
type envelope struct {
	version     string // anthropic_version in the body; "" for the header
	unstreamed  bool   // the address says that the answer is a stream
	betasInBody bool
	path        func(id string) string
	list        func(context.Context, *endpoint.Endpoint) ([]provider.Listed, error)
	frames      func(*answer, io.Reader) error // reads a stream that is not one of events
}

func envelopeOf(c provider.Cloud) envelope {
	switch c {
	case provider.Bedrock:
		return envelope{
			version: "bedrock-2023-05-31", unstreamed: true, betasInBody: true, frames: (*answer).readFrames, list: listBedrock,
			path: func(id string) string { return "/model/" + escaped(id) + "/invoke-with-response-stream" },
		}
	case provider.Vertex:
		return envelope{
			version: "vertex-2023-10-16", path: func(id string) string {
				return "/publishers/anthropic/models/" + url.PathEscape(id) + ":streamRawPredict"
			},
			list: func(context.Context, *endpoint.Endpoint) ([]provider.Listed, error) { return nil, nil },
		}
	case provider.Azure:
	}
	return envelope{path: func(string) string { return "/v1/messages" }}
}

// escaped returns an ID as a part of an address, in the form that signatures expect.
func escaped(id string) string { return strings.ReplaceAll(url.PathEscape(id), ":", "%3A") }

// body begins a request's body.
func (at envelope) body(e *endpoint.Endpoint, req *model.Request) endpoint.Body {
	if at.version == "" {
		return e.NewBody(req)
	}
	b := e.NewEnvelope(req)
	if b.Own("anthropic_version") {
		b.Str(at.version)
	}
	if !at.unstreamed && b.Own("stream") {
		b.Raw("true")
	}
	return b
}
