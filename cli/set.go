package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"jcode/agent"
	"jcode/cli/core"
	"jcode/tools"
	"jcode/tools/command"
	"jcode/tui/front"
)

// setting is something that /set shows and changes.
type setting struct {
	key string
	get func(c *agent.Conversation) string
	set func(ctx context.Context, c *agent.Conversation, value string) error
}

// sessionSettings returns what a session can change. An empty value is the default.
func sessionSettings() []setting {
	number := func(get func(*agent.Tuning) **float64, low, high float64) (func(*agent.Conversation) string, func(context.Context, *agent.Conversation, string) error) {
		return func(c *agent.Conversation) string {
				t := c.Tuning()
				if v := *get(&t); v != nil {
					return fmt.Sprint(*v)
				}
				return ""
			}, func(_ context.Context, c *agent.Conversation, value string) error {
				t := c.Tuning()
				*get(&t) = nil
				if value != "" {
					v, err := strconv.ParseFloat(value, 64)
					if err != nil || v < low || v > high {
						return fmt.Errorf("want a number from %g to %g", low, high)
					}
					*get(&t) = &v
				}
				c.Tune(t)
				return nil
			}
	}
	whole := func(get func(*agent.Tuning) *int) (func(*agent.Conversation) string, func(context.Context, *agent.Conversation, string) error) {
		return func(c *agent.Conversation) string {
				t := c.Tuning()
				if v := *get(&t); v != 0 {
					return fmt.Sprint(v)
				}
				return ""
			}, func(_ context.Context, c *agent.Conversation, value string) error {
				t := c.Tuning()
				*get(&t) = 0
				if value != "" {
					v, err := strconv.Atoi(value)
					if err != nil || v < 1 {
						return fmt.Errorf("want a whole number from 1 on")
					}
					*get(&t) = v
				}
				c.Tune(t)
				return nil
			}
	}
	temperature, setTemperature := number(func(t *agent.Tuning) **float64 { return &t.Temperature }, 0, 2)
	topP, setTopP := number(func(t *agent.Tuning) **float64 { return &t.TopP }, 0, 1)
	output, setOutput := whole(func(t *agent.Tuning) *int { return &t.MaxOutputTokens })
	steps, setSteps := whole(func(t *agent.Tuning) *int { return &t.MaxSteps })
	return []setting{
		{"model", func(c *agent.Conversation) string { return c.State().Model }, func(_ context.Context, c *agent.Conversation, v string) error { return c.SetModel(v) }},
		{"role", func(c *agent.Conversation) string { return c.State().Role }, func(ctx context.Context, c *agent.Conversation, v string) error { return c.SetRole(ctx, v) }},
		{"mode", func(c *agent.Conversation) string { return string(c.State().Mode) }, func(_ context.Context, c *agent.Conversation, v string) error {
			m, err := tools.ParseMode(v)
			if err != nil {
				return err
			}
			if most := c.State().MaxMode; m.Under(most) != m {
				return errors.New(front.Highest(most))
			}
			c.SetMode(m)
			return nil
		}},
		{"title", func(c *agent.Conversation) string { return c.State().Title }, func(_ context.Context, c *agent.Conversation, v string) error { return c.Rename(v) }},
		{"temperature", temperature, setTemperature},
		{"top_p", topP, setTopP},
		{"reasoning_effort", func(c *agent.Conversation) string { return c.Tuning().ReasoningEffort }, func(_ context.Context, c *agent.Conversation, v string) error {
			t := c.Tuning()
			t.ReasoningEffort = v
			c.Tune(t)
			return nil
		}},
		{"max_output_tokens", output, setOutput},
		{"max_steps", steps, setSteps},
		{"max_cost", func(c *agent.Conversation) string {
			if cost := c.Tuning().MaxCost; cost > 0 {
				return fmt.Sprint(cost)
			}
			return ""
		}, func(_ context.Context, c *agent.Conversation, v string) error {
			t := c.Tuning()
			cost, err := strconv.ParseFloat(v, 64)
			if v != "" && (err != nil || cost < 0) {
				return fmt.Errorf("want US dollars, such as 2.50")
			}
			t.MaxCost = cost
			c.Tune(t)
			return nil
		}},
	}
}

// set shows the session's settings, or changes one.
func (p personCommands) set(ctx context.Context, args string) (command.Outcome, error) {
	conv := p.s.conv()
	if conv == nil {
		return command.Outcome{}, core.ErrNoMessages
	}
	key, value, _ := strings.Cut(strings.TrimSpace(args), " ")
	value = strings.TrimSpace(value)
	var lines []string
	for _, s := range sessionSettings() {
		if key == "" {
			lines = append(lines, fmt.Sprintf("%-18s %s", s.key, cmp.Or(s.get(conv), "(default)")))
			continue
		}
		if s.key == key {
			if err := s.set(ctx, conv, value); err != nil {
				return command.Outcome{}, fmt.Errorf("%s: %w", key, err)
			}
			return command.Outcome{Notice: fmt.Sprintf("%s is now %s", key, cmp.Or(s.get(conv), "the default"))}, nil
		}
		lines = append(lines, s.key)
	}
	if key != "" {
		return command.Outcome{}, fmt.Errorf("no setting %q; there are %s", key, strings.Join(lines, ", "))
	}
	return command.Outcome{Page: "Settings of this session", Notice: strings.Join(lines, "\n")}, nil
}
