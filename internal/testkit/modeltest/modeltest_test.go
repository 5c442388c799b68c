package modeltest_test

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"jcode/internal/testkit/modeltest"
)

const hello = `{"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]}`

func post(t *testing.T, url, body string) (int, string, error) {
	t.Helper()
	resp, err := http.Post(url+"/chat/completions", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(b), err
}

func TestRepliesComeInOrderAndRequestsAreKept(t *testing.T) {
	srv := modeltest.New(t, modeltest.Text("a", "b"), modeltest.Status(429, http.Header{"Retry-After": {"1"}}, "slow").Times(2), modeltest.Text("c"))
	if _, body, _ := post(t, srv.URL(), hello); !strings.Contains(body, `"content":"b"`) || !strings.HasSuffix(body, "data: [DONE]\n\n") {
		t.Errorf("first reply: %s", body)
	}
	for range 2 {
		if code, body, _ := post(t, srv.URL(), hello); code != 429 || body != "slow" {
			t.Errorf("status reply: %d %s", code, body)
		}
	}
	if _, body, _ := post(t, srv.URL(), hello); !strings.Contains(body, `"content":"c"`) {
		t.Errorf("last reply: %s", body)
	}
	reqs := srv.Requests()
	if len(reqs) != 4 || reqs[0].Last().Content != "hi" || reqs[3].Index != 3 || reqs[1].Time.Before(reqs[0].Time) {
		t.Errorf("requests: %+v", reqs)
	}
}

func TestStreamIsWrittenAsScripted(t *testing.T) {
	cases := map[string]struct {
		reply modeltest.Reply
		want  []string
		not   []string
	}{
		"crlf":            {modeltest.Text("x").CRLF(), []string{"\r\n\r\n"}, []string{"}\n"}},
		"comments":        {modeltest.Text("x").Comments(), []string{": ping\n", "data:\n"}, nil},
		"events":          {modeltest.Text("x").Events(), []string{"event: message\n", "id: 7\n"}, nil},
		"one byte":        {modeltest.Text("漢").Pieces(1), []string{"漢", "[DONE]"}, nil},
		"no done":         {modeltest.Text("x").NoDone(), []string{"stop"}, []string{"[DONE]"}},
		"no finish":       {modeltest.Text("x").NoFinish(), []string{"[DONE]"}, []string{`"stop"`}},
		"finish":          {modeltest.Text("x").Finish("length"), []string{`"length"`}, nil},
		"usage nowhere":   {modeltest.Text("x").NoUsage(), nil, []string{"usage"}},
		"raw":             {modeltest.Raw("data: zzz\n\n"), []string{"data: zzz\n\n"}, []string{"[DONE]"}},
		"chunks":          {modeltest.Chunks(`{"choices":[]}`), []string{`data: {"choices":[]}`, "[DONE]"}, nil},
		"json":            {modeltest.Text("x").AsJSON(), []string{`"chat.completion"`, `"content":"x"`}, []string{"data:"}},
		"arg pieces":      {modeltest.Calls(modeltest.Call{Name: "t", Args: `{"a":"b"}`}).ArgPieces(4), []string{`{\"a\"`, "call_1"}, nil},
		"ends early":      {modeltest.Text("x", "y").EndAfter(2), []string{`"x"`}, []string{`"y"`, "[DONE]"}},
		"usage twice":     {modeltest.Text("x").UsageTwice(modeltest.Usage{Input: 77}), []string{`"prompt_tokens":77`}, nil},
		"usage in choice": {modeltest.Text("x").UsageInChoice(modeltest.Usage{Input: 78}), []string{`"prompt_tokens":78`}, []string{`"choices":[]`}},
		"usage at finish": {modeltest.Text("x").UsageWithFinish(modeltest.Usage{Input: 79}), []string{`"prompt_tokens":79`}, []string{`"choices":[]`}},
		"burst":           {modeltest.Text("x", "y").Burst(), []string{`"x"`, `"y"`, "[DONE]"}, nil},
		"reasoning":       {modeltest.Text("x").WithReasoning("r"), []string{`"reasoning_content":"r"`}, nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			srv := modeltest.New(t, c.reply)
			_, body, err := post(t, srv.URL(), hello)
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range c.want {
				if !strings.Contains(body, w) {
					t.Errorf("%q is missing in %q", w, body)
				}
			}
			for _, n := range c.not {
				if strings.Contains(body, n) {
					t.Errorf("%q should not be in %q", n, body)
				}
			}
		})
	}
}

func TestBrokenEndsBreakTheConnection(t *testing.T) {
	srv := modeltest.New(t, modeltest.Text("x", "y").CutAfter(2), modeltest.Text("x", "y").ResetAfter(2))
	if _, body, err := post(t, srv.URL(), hello); !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(body, `"x"`) {
		t.Errorf("cut: %v %q", err, body)
	}
	if _, _, err := post(t, srv.URL(), hello); err == nil || (!errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, io.ErrUnexpectedEOF)) {
		t.Errorf("reset: %v", err)
	}
}

func TestSilenceEndsWithTheServer(t *testing.T) {
	for name, reply := range map[string]modeltest.Reply{
		"silence":  modeltest.Text("x").SilenceAfter(2),
		"comments": modeltest.Text("x").CommentsAfter(2, time.Millisecond),
	} {
		t.Run(name, func(t *testing.T) {
			srv := modeltest.New(t, reply)
			resp, err := http.Post(srv.URL()+"/chat/completions", "application/json", strings.NewReader(hello))
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			lines := bufio.NewScanner(resp.Body)
			for lines.Scan() && !strings.Contains(lines.Text(), `"x"`) {
			}
			srv.Close()
			if _, err := io.ReadAll(resp.Body); err == nil {
				t.Log("the stream ended regularly; only its end matters")
			}
		})
	}
}

func TestRefusalLooksAtTheRequest(t *testing.T) {
	srv := modeltest.New(t, modeltest.RefuseIf(func(r modeltest.Request) string {
		if _, has := r.Fields["stream_options"]; has {
			return "unknown field stream_options"
		}
		return ""
	}, modeltest.Text("fine")).Forever())
	if code, body, _ := post(t, srv.URL(), strings.Replace(hello, `{`, `{"stream_options":{},`, 1)); code != 400 || !strings.Contains(body, "stream_options") {
		t.Errorf("%d %s", code, body)
	}
	if code, _, _ := post(t, srv.URL(), hello); code != 200 {
		t.Errorf("%d", code)
	}
}

func TestRoutesConsumeNoReply(t *testing.T) {
	srv := modeltest.New(t, modeltest.Text("scripted"))
	srv.Route(func(r modeltest.Request) (modeltest.Reply, bool) {
		return modeltest.Text("a title"), r.Model == "title"
	})
	if _, body, _ := post(t, srv.URL(), strings.Replace(hello, `"m"`, `"title"`, 1)); !strings.Contains(body, "a title") {
		t.Error(body)
	}
	if _, body, _ := post(t, srv.URL(), hello); !strings.Contains(body, "scripted") {
		t.Error(body)
	}
}

func TestBreachIsRefusedAndRecorded(t *testing.T) {
	h := modeltest.NewHandler(modeltest.Text("never"))
	srv := httptest.NewServer(h)
	defer srv.Close()
	code, body, _ := post(t, srv.URL+"/v1", `{"model":"m","messages":[{"role":"user","content":" "}]}`)
	if code != 400 || !strings.Contains(body, "white space") || len(h.Breaches()) != 1 {
		t.Errorf("%d %s %v", code, body, h.Breaches())
	}
	post(t, srv.URL, hello)
	post(t, srv.URL, hello)
	if b := h.Breaches(); len(b) != 2 || !strings.Contains(b[1], "no reply left") {
		t.Errorf("breaches: %v", b)
	}
}

func TestLenientServerAnswersBreachesAndKeepsThem(t *testing.T) {
	h := modeltest.NewHandler(modeltest.Text("fine"))
	h.Lenient()
	srv := httptest.NewServer(h)
	defer srv.Close()
	code, _, _ := post(t, srv.URL, `{"model":"m","messages":[{"role":"user","content":" "}]}`)
	if code != 200 || len(h.Breaches()) != 1 {
		t.Errorf("%d %v", code, h.Breaches())
	}
}

func TestCheckFindsEachBreach(t *testing.T) {
	call := func(id, args string) string {
		return `{"role":"assistant","content":null,"tool_calls":[{"id":"` + id + `","type":"function","function":{"name":"t","arguments":` + args + `}}]}`
	}
	result := func(id string) string { return `{"role":"tool","tool_call_id":"` + id + `","content":"ok"}` }
	const user = `{"role":"user","content":"hi"}`
	tool := func(name, params string) string {
		return `{"type":"function","function":{"name":"` + name + `","parameters":` + params + `}}`
	}
	body := func(messages ...string) string {
		return `{"model":"m","messages":[` + strings.Join(messages, ",") + `]}`
	}
	withTools := func(tools ...string) string {
		return `{"model":"m","messages":[` + user + `],"tools":[` + strings.Join(tools, ",") + `]}`
	}
	const params = `{"type":"object","properties":{}}`
	cases := map[string]struct{ body, want string }{
		"fine":                {body(user, call("a", `"{}"`), result("a"), user), ""},
		"fine tools":          {withTools(tool("a", params), tool("b", `{"type":"object","properties":{"x":{"$ref":"#/$defs/y"}},"$defs":{"y":{}}}`)), ""},
		"not json":            {`{`, "not a JSON object"},
		"no messages":         {`{"model":"m"}`, "no messages"},
		"no model":            {`{"messages":[` + user + `]}`, "no model"},
		"no result":           {body(user, call("a", `"{}"`), user), "no result before messages[2]"},
		"no result at end":    {body(user, call("a", `"{}"`)), "no result before"},
		"result without call": {body(user, result("a")), "no call before it"},
		"result twice":        {body(user, call("a", `"{}"`), result("a"), result("a")), "no call before it"},
		"id twice":            {body(user, call("a", `"{}"`), result("a"), call("a", `"{}"`), result("a")), "used twice"},
		"id empty":            {body(user, call("", `"{}"`), result("")), "no id"},
		"id long":             {body(user, call(strings.Repeat("x", 129), `"{}"`), result(strings.Repeat("x", 129))), "longer than 128"},
		"arguments list":      {body(user, call("a", `"[1]"`), result("a")), "no JSON object"},
		"arguments null":      {body(user, call("a", `"null"`), result("a")), "no JSON object"},
		"arguments cut":       {body(user, call("a", `"{\"p"`), result("a")), "no JSON object"},
		"arguments object":    {body(user, call("a", `{}`), result("a")), "no JSON object"},
		"empty message":       {body(user, `{"role":"assistant","content":""}`), "white space"},
		"null message":        {body(user, `{"role":"assistant","content":null}`), "neither content nor calls"},
		"blank content":       {body(`{"role":"user","content":"\n "}`), "white space"},
		"empty result":        {body(user, call("a", `"{}"`), `{"role":"tool","tool_call_id":"a","content":""}`), "white space"},
		"bad role":            {body(`{"role":"robot","content":"x"}`), "role"},
		"tool image":          {body(user, call("a", `"{}"`), `{"role":"tool","tool_call_id":"a","content":[{"type":"image_url","image_url":{"url":"data:x"}}]}`), "image in a tool"},
		"invalid utf-8":       {body(`{"role":"user","content":"a` + "\xff" + `"}`), "UTF-8"},
		"lone surrogate":      {body(`{"role":"user","content":"\ud83d x"}`), "lone surrogate"},
		"low surrogate":       {body(`{"role":"user","content":"\udc00"}`), "lone surrogate"},
		"pair is fine":        {body(`{"role":"user","content":"\ud83d\ude00 \\ud83d"}`), ""},
		"tool name":           {withTools(tool("a b", params)), "illegal name"},
		"tool name long":      {withTools(tool(strings.Repeat("x", 65), params)), "illegal name"},
		"tool twice":          {withTools(tool("a", params), tool("a", params)), "again"},
		"no type":             {withTools(tool("a", `{"properties":{}}`)), "parameters.type"},
		"no properties":       {withTools(tool("a", `{"type":"object"}`)), "properties is missing"},
		"no parameters":       {withTools(`{"type":"function","function":{"name":"a"}}`), "parameters is not an object"},
		"dangling ref":        {withTools(tool("a", `{"type":"object","properties":{"x":{"$ref":"#/$defs/y"}}}`)), "leads nowhere"},
		"tools empty":         {withTools(), "empty list"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			found := strings.Join(modeltest.Check([]byte(c.body)), "\n")
			if c.want == "" && found != "" || !strings.Contains(found, c.want) {
				t.Errorf("want %q, found %q", c.want, found)
			}
		})
	}
}

func TestWaitGivesTheRequestThatArrives(t *testing.T) {
	srv := modeltest.New(t, modeltest.Text("x"))
	if _, ok := srv.Wait(1, time.Millisecond); ok {
		t.Error("there was no request yet")
	}
	go func() {
		resp, err := http.Post(srv.URL()+"/chat/completions", "application/json", bytes.NewReader([]byte(hello)))
		if err == nil {
			resp.Body.Close()
		}
	}()
	if r, ok := srv.Wait(1, time.Minute); !ok || r.Last().Content != "hi" {
		t.Errorf("%v %+v", ok, r)
	}
}

func FuzzCheckNeverPanics(f *testing.F) {
	f.Add([]byte(hello))
	f.Add([]byte(`{"messages":[null,1],"tools":[{}],"x":"\ud8`))
	f.Fuzz(func(t *testing.T, b []byte) { modeltest.Check(b) })
}

func TestScriptFromAFile(t *testing.T) {
	replies, err := modeltest.Read(strings.NewReader(`# three replies
{"text":["a","b"],"calls":[{"name":"t","args":{"x":1}},{"name":"u","args":"{cut"}],"finish":"","usage":{"input":7},"crlf":true}

{"status":429,"retry_after":"1","body":"slow","times":2}
{"chunks":[{"choices":[]}],"no_done":true,"cut_after":1}
`))
	if err != nil || len(replies) != 3 {
		t.Fatal(len(replies), err)
	}
	srv := modeltest.New(t, replies...)
	_, body, _ := post(t, srv.URL(), hello)
	for _, want := range []string{`"content":"b"`, `{\"x\":1}`, `{cut`, `"prompt_tokens":7`, "\r\n"} {
		if !strings.Contains(body, want) {
			t.Errorf("%q is missing in %q", want, body)
		}
	}
	for range 2 {
		if code, body, _ := post(t, srv.URL(), hello); code != 429 || body != "slow" {
			t.Error(code, body)
		}
	}
	if _, body, err := post(t, srv.URL(), hello); err == nil || !strings.Contains(body, `{"choices":[]}`) {
		t.Error(body, err)
	}
	if _, err := modeltest.Read(strings.NewReader("{}\n{\"txet\":[]}")); err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Error(err)
	}
	if _, err := modeltest.Load(t.TempDir() + "/none"); err == nil {
		t.Error("a missing file was read")
	}
}
