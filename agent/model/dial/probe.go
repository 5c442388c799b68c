package dial

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"slices"
	"strings"
	"time"

	"jcode/agent/model"
	"jcode/agent/model/provider"
)

// ProbeTokens is what a Probe costs at most, in tokens.
const ProbeTokens = 2000

// Probe tests one model with one request: a picture, and two tools that must be called at once. It reports
// the result of each; checks that depend on a failed one are left out.
func Probe(ctx context.Context, cfg provider.Config, id string) []Check {
	c, checks := openOnce(ctx, cfg)
	if c == nil {
		return checks
	}
	defer c.Close()
	checks = append(checks, Check{Name: "protocol", OK: true, Detail: string(cmp.Or(cfg.Protocol, provider.Chat))})
	ctx, cancel := context.WithTimeout(ctx, checkWait)
	defer cancel()
	seen := &observed{began: time.Now()}
	resp, err := c.Stream(ctx, probeRequest(id), seen.take)
	if err != nil {
		return append(checks, Check{Name: "stream", Detail: err.Error(), Advice: advice(err)})
	}
	return append(checks, seen.checks(id, resp)...)
}

// observed is what a probe saw while its answer arrived.
type observed struct {
	began   time.Time
	first   time.Duration // until the first piece of the answer
	thought bool
	blind   bool // the picture was left out
	notices []string
}

func (o *observed) take(e model.Event) {
	switch e := e.(type) {
	case model.NoticeEvent:
		o.notices = append(o.notices, e.Text)
		o.blind = o.blind || strings.Contains(e.Text, "does not accept images")
		return
	case model.ReasoningEvent:
		o.thought = true
	case model.RetryEvent, model.ResetEvent:
		return
	}
	if o.first == 0 {
		o.first = time.Since(o.began)
	}
}

func (o *observed) checks(id string, resp model.Response) []Check {
	out := []Check{{Name: "stream", OK: true, Detail: fmt.Sprintf("%s answered; first token after %d ms", id, o.first.Milliseconds())}}
	for _, n := range o.notices {
		out = append(out, Check{Name: "learned", OK: true, Detail: n})
	}
	invalid := func(call model.Call) bool { return call.Name != "report" || !json.Valid([]byte(call.Arguments)) }
	switch {
	case len(resp.Calls) == 0:
		out = append(out, Check{Name: "tools", Detail: id + " answered without calling the tool", Advice: "choose a model that can call tools; jcode works by them"})
	case slices.ContainsFunc(resp.Calls, invalid):
		out = append(out, Check{Name: "tools", Detail: id + " called a tool that it was not given, or with no JSON", Advice: "choose a model that calls tools more reliably"})
	default:
		out = append(out, Check{Name: "tools", OK: true, Detail: id + " calls tools"}, Check{Name: "parallel calls", OK: true, Detail: yesNo(len(resp.Calls) > 1, "several at once", "one at a time")})
	}
	return append(out,
		Check{Name: "images", OK: true, Detail: yesNo(o.blind, "not taken", "taken")},
		Check{Name: "thinking", OK: true, Detail: yesNo(o.thought || resp.Reasoning != "" || len(resp.Opaque) > 0, "comes with the answer", "none came with this answer")},
		Check{Name: "cache", OK: true, Detail: yesNo(resp.Usage.Cached+resp.Usage.Written+resp.Usage.WrittenHour > 0, "used", "not used for a request this short; longer ones may be")},
		Check{Name: "tokens", OK: true, Detail: fmt.Sprintf("%d in, %d out%s", resp.Usage.Input, resp.Usage.Output, yesNo(resp.Usage.Estimated, " (estimated: the provider did not count)", ""))})
}

func yesNo(b bool, yes, no string) string {
	if b {
		return yes
	}
	return no
}

func probeRequest(id string) model.Request {
	square := image.NewRGBA(image.Rect(0, 0, 32, 32))
	for i := range square.Pix {
		square.Pix[i] = []uint8{0xff, 0, 0, 0xff}[i%4]
	}
	square.Set(0, 0, color.Black)
	var picture bytes.Buffer
	_ = png.Encode(&picture, square) // into memory
	return model.Request{
		Model: id, MaxOutputTokens: ProbeTokens / 2, System: "You try out a connection.",
		Messages: []model.Message{{
			Role: model.RoleUser, Images: []model.Image{{MIME: "image/png", Data: picture.Bytes()}},
			Text: "Call the tool report twice in the same answer: once with the word ready, once with the colour of the picture.",
		}},
		Tools: reportTool(),
	}
}
