package agent_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"jcode/agent"
	"jcode/agent/model"
	"jcode/tools"
)

// Whatever happened in a session, the request after a resume is the same as without one.
func TestResumedHistoryIsTheOneThatWasLeft(t *testing.T) {
	t.Parallel()
	lives := uint64(60)
	if testing.Short() {
		lives = 15
	}
	for seed := range lives {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { oneLife(t, rand.New(rand.NewPCG(seed, 7))) })
	}
}

// oneLife runs random turns in a session, then compares.
func oneLife(t *testing.T, random *rand.Rand) {
	var b *bench
	var replies []reply
	noise := []string{"", " \n", "text", "long " + strings.Repeat("word ", 300), "odd \xff\xfe bytes", "[jcode] says the person", "\u2028\r\x00"}
	pick := func() string { return noise[random.IntN(len(noise))] }
	turns := 0
	for range 4 + random.IntN(8) {
		r := reply{text: pick(), usage: model.Usage{Input: 10, Output: 1}}
		for range random.IntN(4) {
			args := []string{"{}", `{"n":1}`, "", "null", "[1]", `{"a`, `{"q":"\ud800"}`}[random.IntN(7)]
			name := []string{"read", "write", "fails", "nosuch", "show"}[random.IntN(5)]
			r.calls = append(r.calls, call([]string{"", "same", fmt.Sprint(len(replies)), strings.Repeat("x", 60)}[random.IntN(4)], name, args))
		}
		switch random.IntN(8) {
		case 0:
			r.act = func(context.Context) { b.Interrupt() }
		case 1:
			r.err = &model.Error{Class: model.ClassServer, Text: "down"}
		case 2:
			r.err = &model.Error{Class: model.ClassOverflow, Text: "too long"}
		}
		replies = append(replies, r)
	}
	result := func(text string) func(context.Context, tools.Call) (tools.Result, error) {
		return func(context.Context, tools.Call) (tools.Result, error) {
			if random.IntN(6) == 0 {
				b.Interrupt()
			}
			return tools.Result{Text: text}, nil
		}
	}
	b = startWith(t, replies, nil,
		writer("read", result("content \xff")), writer("write", result(" ")),
		writer("fails", func(context.Context, tools.Call) (tools.Result, error) { return tools.Result{}, errors.New("no") }),
		writer("show", func(context.Context, tools.Call) (tools.Result, error) {
			return tools.Result{Text: "a picture", Parts: []tools.Part{{MIME: "image/png", Data: []byte{1, 2}}}}, nil
		}),
	)
	for range 12 {
		switch op := random.IntN(8); {
		case op == 0 && b.ID() != "":
			_ = b.Compact(t.Context(), "") // there may be nothing to compact
		case op == 1 && turns > 1:
			rows, err := b.store.History().All(t.Context(), b.ID())
			if err != nil || len(rows) == 0 {
				t.Fatal(err)
			}
			if row := rows[random.IntN(len(rows))]; row.Role == "user" && row.Archived == 0 {
				if err := b.Rewind(t.Context(), row.Seq); err != nil {
					t.Fatal(err)
				}
			}
		default:
			turns++
			b.turn("prompt " + pick())
		}
	}
	next := func(text string) model.Request {
		n := len(b.model.requests)
		b.turn(text)
		return b.model.requests[n]
	}
	b.model.replies = append(b.model.replies[:len(replies):len(replies)], make([]reply, 100)...)
	for i := range b.model.replies {
		b.model.replies[i] = reply{text: "fine"}
	}
	left := next("before")
	b.Close()
	again, err := agent.Resume(t.Context(), b.opt, b.ID())
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	b.Conversation, b.sub = again, again.Subscribe()
	got := next("after")
	want := append(left.Messages, model.Message{Role: model.RoleAssistant, Text: "fine"}, model.Message{Role: model.RoleUser, Text: "after"})
	if len(got.Messages) != len(want) {
		t.Fatalf("%d messages, want %d\n%s\n%s", len(got.Messages), len(want), shape(got.Messages), shape(want))
	}
	for i := range want {
		g, w := got.Messages[i], want[i]
		g.Reasoning, w.Reasoning = "", ""
		if !reflect.DeepEqual(g, w) {
			t.Fatalf("message %d is\n%.300q\nwant\n%.300q", i, fmt.Sprintf("%+v", g), fmt.Sprintf("%+v", w))
		}
	}
}

func shape(list []model.Message) string {
	var b strings.Builder
	for _, m := range list {
		fmt.Fprintf(&b, "%s:%.20q/%d ", m.Role, m.Text, len(m.Calls))
	}
	return b.String()
}
