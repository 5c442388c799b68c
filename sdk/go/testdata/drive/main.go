// Drive plays one exchange of the conformance test with this library: it reads the exchange, and prints what came of
// each step as a line of JSON.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	sdk "jcode/sdk/go"
)

type exchange struct {
	Mode    string          `json:"mode"`
	Schema  json.RawMessage `json:"schema"`
	Answers []struct {
		Allow bool    `json:"allow"`
		Deny  *string `json:"deny"`
		Text  *string `json:"text"`
	} `json:"answers"`
	Tools []struct {
		Name     string          `json:"name"`
		Schema   json.RawMessage `json:"schema"`
		ReadOnly bool            `json:"read_only"`
		Answer   string          `json:"answer"` // with ARGS in it, the arguments
		Fails    string          `json:"fails"`
		Waits    bool            `json:"waits"` // until nobody wants the answer
	} `json:"tools"`
	Steps []struct {
		Prompt      *string        `json:"prompt"`
		InterruptAt string         `json:"interrupt_at"`
		Do          string         `json:"do"`
		Fields      map[string]any `json:"fields"`
		Resume      bool           `json:"resume"`
		Fork        bool           `json:"fork"`
		List        bool           `json:"list"`
	} `json:"steps"`
}

type outcome struct {
	OK         bool            `json:"ok"`
	Text       string          `json:"text,omitempty"`
	Error      string          `json:"error,omitempty"`
	Kind       string          `json:"kind,omitempty"`
	Tools      []string        `json:"tools,omitempty"`
	Asked      []string        `json:"asked,omitempty"`
	Has        []string        `json:"has,omitempty"`
	Structured json.RawMessage `json:"structured,omitempty"`
	Same       *bool           `json:"same,omitempty"`
	Count      *int            `json:"count,omitempty"`
}

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	var x exchange
	if err := json.NewDecoder(os.Stdin).Decode(&x); err != nil {
		return err
	}
	var asked []string
	opt := sdk.Options{Mode: x.Mode, Schema: x.Schema, Stderr: os.Stderr}
	if len(x.Answers) > 0 {
		opt.OnQuestion = func(q sdk.Question) sdk.Answer {
			asked = append(asked, q.Kind)
			if len(asked) > len(x.Answers) {
				return sdk.Answer{}
			}
			switch a := x.Answers[len(asked)-1]; {
			case a.Allow:
				return q.Allow()
			case a.Text != nil:
				return sdk.Reply(*a.Text)
			default:
				return q.Deny(*a.Deny)
			}
		}
	}
	for _, t := range x.Tools {
		opt.Tools = append(opt.Tools, sdk.Tool{Name: t.Name, Description: t.Name, Schema: t.Schema, ReadOnly: t.ReadOnly, Run: func(ctx context.Context, args json.RawMessage) (string, error) {
			if t.Waits {
				<-ctx.Done()
			}
			if t.Fails != "" {
				return "", errors.New(t.Fails)
			}
			var given map[string]string
			if err := json.Unmarshal(args, &given); err != nil {
				return "", err
			}
			return strings.ReplaceAll(t.Answer, "ARGS", given["q"]), nil
		}})
	}
	s, err := sdk.Start(ctx, opt)
	if err != nil {
		return err
	}
	for _, step := range x.Steps {
		var out outcome
		switch {
		case step.Prompt != nil:
			asked, out = nil, outcome{}
			for ev, err := range s.Prompt(ctx, *step.Prompt) {
				if err != nil {
					out = failed(err)
					break
				}
				if ev.Type == "tool_call" {
					out.Tools = append(out.Tools, ev.Text("name"))
				}
				if ev.Type == step.InterruptAt {
					if err := s.Interrupt(ctx); err != nil {
						return err
					}
				}
				if ev.Type == "result" {
					var res sdk.Result
					if err := ev.Decode(&res); err != nil {
						return err
					}
					out.OK, out.Text, out.Error, out.Structured = res.OK, res.Text, res.Error, res.Structured
				}
			}
			out.Asked = asked
		case step.Do != "":
			var result map[string]any
			if err := s.Do(ctx, step.Do, step.Fields, &result); err != nil {
				out = failed(err)
				break
			}
			out.OK = true
			for name := range result {
				out.Has = append(out.Has, name)
			}
		case step.Resume || step.Fork:
			before := s.ID
			if err := s.Close(); err != nil {
				return err
			}
			opt.Resume, opt.Fork = before, step.Fork
			if s, err = sdk.Start(ctx, opt); err != nil {
				return err
			}
			same := s.ID == before
			out.OK, out.Same = true, &same
		case step.List:
			list, err := sdk.Sessions(ctx, opt)
			if err != nil {
				return err
			}
			n := len(list)
			out.OK, out.Count = true, &n
		}
		if err := json.NewEncoder(os.Stdout).Encode(out); err != nil {
			return err
		}
	}
	_ = s.Close() // its exit code is that of the last turn
	return nil
}

func failed(err error) outcome {
	var e *sdk.Error
	if errors.As(err, &e) {
		return outcome{Kind: e.Kind}
	}
	return outcome{Error: err.Error()}
}
