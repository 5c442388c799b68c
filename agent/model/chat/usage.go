package chat

import (
	"jcode/agent/model"
)

// counts are the token counts of a chunk under the names that servers use.
type counts struct {
	model.Usage
	total     int
	reasoning int
}

// usage converts counts to OpenAI's terms. If the input excludes the cached tokens, they are added: they were
// sent. Whether thinking is counted apart from the output, the total says; without one, thinking that exceeds the
// output cannot be part of it. It is billed, so it is added.
func (n counts) usage() model.Usage {
	u := n.Usage
	if sent := u.Cached + u.Written; sent > u.Input {
		u.Input += sent
	}
	switch {
	case n.total > 0:
		u.Output = max(u.Output, n.total-u.Input)
	case n.reasoning > u.Output:
		u.Output += n.reasoning
	}
	return u
}

// readUsage reads token counts under the names that servers use. The last non-zero value wins: some servers
// send running totals.
func (c *chunk) readUsage() error {
	c.known = true
	if c.sc.peek() != '{' {
		return c.sc.skip()
	}
	var n counts
	err := c.sc.object(func(key []byte) error { return c.count(&n, key) })
	if n != (counts{}) {
		c.usage, c.hasUsage = n.usage(), true
	}
	return err
}

func (c *chunk) count(n *counts, key []byte) error {
	to := (*int)(nil)
	switch string(key) {
	case "prompt_tokens", "input_tokens":
		to = &n.Input
	case "completion_tokens", "output_tokens":
		to = &n.Output
	case "total_tokens":
		to = &n.total
	case "reasoning_tokens":
		to = &n.reasoning
	case "cached_tokens", "prompt_cache_hit_tokens", "cache_read_input_tokens", "cache_read_tokens":
		to = &n.Cached
	case "cache_write_tokens", "cache_creation_input_tokens", "cache_creation_tokens":
		to = &n.Written
	case "prompt_tokens_details", "input_tokens_details", "completion_tokens_details", "output_tokens_details":
		return c.inner(func(key []byte) error {
			switch string(key) {
			case "cached_tokens", "cache_write_tokens", "reasoning_tokens":
				return c.count(n, key)
			}
			return c.sc.skip()
		})
	case "cost", "total_cost":
		if c.sc.peek() == '{' {
			return c.inner(func(key []byte) error { return c.count(n, key) })
		}
		return c.price(&n.Cost, 1)
	case "cost_in_usd_ticks":
		return c.price(&n.Cost, 1e-10)
	default:
		return c.sc.skip()
	}
	v, _, err := c.sc.number()
	if v > 0 {
		*to = v
	}
	return err
}

// price reads an amount of money; unit is its unit in dollars.
func (c *chunk) price(to *float64, unit float64) error {
	v, err := c.sc.decimal()
	if v > 0 && v*unit < mostCost {
		*to = v * unit
	}
	return err
}

// mostCost is the highest plausible price of one answer, in US dollars.
const mostCost = 1000
