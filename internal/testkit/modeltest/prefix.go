package modeltest

import "encoding/json"

// Prefix says how many bytes of a request an automatic cache would read that keeps the beginnings of all earlier ones
// of the same model, and how many there are. It compares whole blocks in the order in which makers read them: tools,
// system prompt, messages. Marks of a cache are no part of a block.
func Prefix(earlier []Request, r Request) (shared, all int) {
	blocks := blocksOf(r)
	for _, b := range blocks {
		all += len(b)
	}
	for _, before := range earlier {
		if before.Model != r.Model {
			continue
		}
		n := 0
		for i, b := range blocksOf(before) {
			if i >= len(blocks) || b != blocks[i] {
				break
			}
			n += len(b)
		}
		shared = max(shared, n)
	}
	return shared, all
}

// Shared sums up what Prefix says of requests in their order, as a share.
func Shared(list []Request) float64 {
	read, all := 0, 0
	for i, r := range list {
		shared, size := Prefix(list[:i], r)
		read, all = read+shared, all+size
	}
	if all == 0 {
		return 0
	}
	return float64(read) / float64(all)
}

// blocksOf returns the parts of a request in the order in which a cache reads them.
func blocksOf(r Request) (out []string) {
	add := func(v any) {
		if v == nil {
			return
		}
		if b, err := json.Marshal(unmarked(v)); err == nil {
			out = append(out, string(b))
		}
	}
	each := func(v any) {
		list, ok := v.([]any)
		if !ok {
			add(v)
		}
		for _, x := range list {
			m, ok := x.(map[string]any)
			parts, nested := m["content"].([]any)
			if !ok || !nested {
				add(x)
				continue
			}
			for _, part := range parts { // whether two messages of one side are joined makes no difference
				add([]any{m["role"], part})
			}
		}
	}
	each(r.Fields["tools"])
	each(r.Fields["system"])
	each(r.Fields["instructions"])
	each(r.Fields["messages"])
	each(r.Fields["input"])
	return out
}
