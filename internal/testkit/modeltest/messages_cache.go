package modeltest

import (
	"crypto/sha256"
	"encoding/json"
)

// Cached says what a prompt cache did for one request, or for several, in tokens.
type Cached struct {
	Read    int // found
	Written int // stored for later
	Fresh   int // neither
	Again   int // of Written: stored before, and not found because no marker was near enough
}

// lookBack is how many blocks before a marker are searched for something stored.
const lookBack = 20

// promptCache stores beginnings of requests as the provider does: up to each marker.
type promptCache struct {
	kept map[[32]byte]bool
}

// use looks a request up, stores what its markers ask for, and returns what it found.
func (c *promptCache) use(fields map[string]any) Cached {
	if c.kept == nil {
		c.kept = map[[32]byte]bool{}
	}
	var sums [][32]byte
	var sizes []int
	var marks []int
	var running [32]byte
	size := 0
	add := func(v any) {
		b, err := json.Marshal(unmarked(v))
		if err != nil {
			return
		}
		running = sha256.Sum256(append(running[:], b...))
		size += (len(b) + 3) / 4
		sums, sizes = append(sums, running), append(sizes, size)
		if m, ok := v.(map[string]any); ok && m["cache_control"] != nil {
			marks = append(marks, len(sums)-1)
		}
	}
	for _, t := range objects(fields["tools"]) {
		add(t)
	}
	if s, ok := fields["system"].(string); ok {
		add(s)
	}
	for _, b := range objects(fields["system"]) {
		add(b)
	}
	for _, m := range objects(fields["messages"]) {
		if s, ok := m["content"].(string); ok {
			add(map[string]any{"role": m["role"], "content": s})
		}
		for _, b := range objects(m["content"]) {
			add(b)
		}
	}
	hit, known := -1, -1
	for _, m := range marks {
		for k := m; k >= 0 && k > m-lookBack; k-- {
			if c.kept[sums[k]] {
				hit = max(hit, k)
				break
			}
		}
	}
	for k := range sums {
		if c.kept[sums[k]] {
			known = max(known, k)
		}
	}
	at := func(k int) int {
		if k < 0 {
			return 0
		}
		return sizes[k]
	}
	out := Cached{Read: at(hit), Again: at(known) - at(hit)}
	last := -1
	for _, m := range marks {
		c.kept[sums[m]] = true
		last = max(last, m)
	}
	out.Written = max(at(last)-at(hit), 0)
	out.Fresh = size - max(at(last), at(hit))
	return out
}

// Cache sums up what the prompt cache did for the requests so far.
func (h *Handler) Cache() (total Cached) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, c := range h.cached {
		total.Read += c.Read
		total.Written += c.Written
		total.Fresh += c.Fresh
		total.Again += c.Again
	}
	return total
}
