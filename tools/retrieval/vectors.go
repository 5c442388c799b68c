package retrieval

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strings"
	"sync"

	"jcode/internal/ranking"
	"jcode/session"
)

// Embeddings are sent in batches, and a text is cut to what every model takes.
const (
	embedBatch = 64
	embedText  = 6000 // bytes
)

// openEmbedder returns the embedder, nil if no model is configured.
func (r *Room) openEmbedder() (Embedder, error) {
	r.embedding.Do(func() {
		if r.opts.Embedder != nil {
			r.embedder, r.unusable = r.opts.Embedder()
		}
	})
	return r.embedder, r.unusable
}

// embedNew computes the embeddings that are missing, unless all documents are as an earlier run left them complete:
// to look whether each passage has one takes longer than to search.
func (in indexing) embedNew(ctx context.Context, c Collection, rep report, anew bool) (err error) {
	k, r := in.keeper, in.room
	docs := rep.known
	if rep.read > 0 || rep.gone > 0 {
		if docs, err = r.opts.Index.List(ctx, c.Owner); err != nil {
			return err
		}
	}
	now := printOf(docs)
	if now == k.listed && !anew {
		return nil
	}
	r.vectors.clear() // another process may have written
	k.listed = 0
	if err := r.embed(ctx, k, c, docs, anew); err != nil {
		return err
	}
	k.listed = now
	return nil
}

// printOf returns a number that differs for another list of documents, and where one was indexed again.
func printOf(docs []session.Document) uint64 {
	h := fnv.New64a()
	for _, d := range docs {
		_, _ = fmt.Fprintln(h, d.Path, d.Hash, d.Indexed.UnixNano(), d.Passages) // never fails
	}
	return h.Sum64()
}

// embed computes the embeddings that passages of a collection lack. Existing ones are kept until new
// ones replace them, also if the model fails halfway.
// A rebuild also replaces those whose dimension is no longer the model's.
func (r *Room) embed(ctx context.Context, k *keeper, c Collection, docs []session.Document, anew bool) error {
	e, err := r.openEmbedder()
	if e == nil || err != nil {
		return err
	}
	total := 0
	for _, d := range docs {
		total += d.Passages
	}
	length, err := r.opts.Index.VectorLength(ctx, []string{c.Owner}, e.Model())
	if err != nil {
		return err
	}
	last := int64(0)
	var missing []int64
	for made := 0; ; {
		if len(missing) == 0 {
			if missing, err = r.opts.Index.WithoutVector(ctx, []string{c.Owner}, e.Model(), last); err != nil {
				return err
			}
			if len(missing) == 0 {
				return r.learn(ctx, e, c.Owner, total)
			}
		}
		n := min(len(missing), embedBatch)
		batch, err := r.opts.Index.Passages(ctx, missing[:n])
		if err != nil {
			return err
		}
		if last, missing = missing[n-1], missing[n:]; len(batch) == 0 {
			continue // another process has replaced them
		}
		indexing{r, k}.progress("embedding", min(made, total), total)
		texts := make([]string, len(batch))
		for i, p := range batch {
			texts[i] = strings.ToValidUTF8((p.Title + "\n" + p.Heading + "\n" + p.Text)[:min(embedText, len(p.Title)+len(p.Heading)+len(p.Text)+2)], "")
		}
		vectors, err := e.Embed(ctx, texts)
		if err != nil {
			return fmt.Errorf("embeddings are missing for %d passages, which are found by their words alone: %w", total-made, err)
		}
		if len(vectors) != len(batch) {
			return fmt.Errorf("the embedding model %s returned %d embeddings for %d texts", e.Model(), len(vectors), len(batch))
		}
		keep, again := map[int64][]byte{}, false
		for i, v := range vectors {
			if length == 0 {
				length = len(v)
			}
			if len(v) != length && anew {
				if err := r.opts.Index.ForgetVectors(ctx, c.Owner); err != nil {
					return err
				}
				length, again = len(v), true
			}
			if len(v) != length {
				return fmt.Errorf("the embedding model %s changed its dimension from %d to %d: /docs rebuild embeds everything again", e.Model(), length, len(v))
			}
			if keep[batch[i].ID], err = pack(v); err != nil {
				return fmt.Errorf("the embedding model %s: %w", e.Model(), err)
			}
		}
		if err := r.opts.Index.PutVectors(ctx, e.Model(), keep); err != nil {
			return err
		}
		if made += len(batch); again {
			last, missing = 0, nil
		}
		r.vectors.clear()
	}
}

// pack makes a vector 1 long, as little-endian float16.
func pack(v []float32) ([]byte, error) {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if sum == 0 || math.IsNaN(sum) || math.IsInf(sum, 0) {
		return nil, errors.New("an embedding is not a usable vector (it is zero or not finite)")
	}
	scale := float32(1 / math.Sqrt(sum))
	out := make([]byte, 0, 2*len(v))
	for _, x := range v {
		out = binary.LittleEndian.AppendUint16(out, half(x*scale))
	}
	return out, nil
}

// half rounds a number between -1 and 1 to float16, to the nearest, ties to even.
func half(x float32) uint16 {
	bits := math.Float32bits(x)
	sign := uint16(bits >> 16 & 0x8000)
	exp := int(bits>>23&0xff) - 127
	frac := bits & 0x7fffff
	if exp < -25 {
		return sign
	}
	frac |= 0x800000
	shift := uint(13)
	e := exp + 15
	if e <= 0 { // subnormal
		shift += uint(1 - e)
		e = 0
	} else {
		frac &= 0x7fffff
	}
	n := frac >> shift
	if rest := frac & (1<<shift - 1); rest > 1<<(shift-1) || rest == 1<<(shift-1) && n&1 == 1 {
		n++
	}
	return sign | uint16(uint32(e)<<10+n)
}

// single widens a float16.
func single(h uint16) float32 {
	sign, exp, frac := uint32(h&0x8000)<<16, uint32(h>>10&0x1f), uint32(h&0x3ff)
	if exp == 0 {
		x := float32(frac) / (1 << 24)
		return math.Float32frombits(math.Float32bits(x) | sign)
	}
	return math.Float32frombits(sign | (exp+112)<<23 | frac<<13)
}

// vectorCache holds the embeddings of the collections that were searched last: to read them
// from the index takes longer than to compare them. Eight bits a number are enough to rank by.
type vectorCache struct {
	mu     sync.Mutex
	key    string
	ids    []int64
	length int
	data   []int8
	scales []float32 // what the numbers of each vector are multiplied by
}

func (c *vectorCache) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.key, c.ids, c.data, c.scales = "", nil, nil, nil
}

// add takes a vector that is stored as float16.
func (c *vectorCache) add(id int64, stored []byte, numbers []float32, table []float32) {
	largest := float32(0)
	for i := range numbers {
		numbers[i] = table[binary.LittleEndian.Uint16(stored[2*i:])]
		largest = max(largest, numbers[i], -numbers[i])
	}
	if largest == 0 {
		return
	}
	c.ids, c.scales = append(c.ids, id), append(c.scales, largest/127)
	for _, x := range numbers {
		c.data = append(c.data, int8(math.Round(float64(x*127/largest))))
	}
}

// fill reads the embeddings of owners from the index.
func (r *Room) fill(ctx context.Context, c *vectorCache, owners []string, model string, length int) error {
	key := fmt.Sprintf("%s\x00%d\x00%s", model, length, strings.Join(owners, "\x00"))
	if c.key == key {
		return nil
	}
	c.key, c.ids, c.data, c.scales, c.length = "", nil, nil, nil, length
	table := make([]float32, 1<<16) // of all float16
	for i := range table {
		table[i] = single(uint16(i))
	}
	numbers := make([]float32, length)
	err := r.opts.Index.Vectors(ctx, owners, model, func(id int64, v []byte) {
		if len(v) == 2*length { // else of another dimension
			c.add(id, v, numbers, table)
		}
	})
	if err == nil {
		c.key = key
	}
	return err
}

// nearest returns the passages whose embeddings are nearest to a vector, the nearest first.
func (r *Room) nearest(ctx context.Context, owners []string, model string, query []float32, limit int) ([]ranking.Scored, error) {
	if _, err := pack(query); err != nil {
		return nil, err
	}
	c := &r.vectors
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := r.fill(ctx, c, owners, model, len(query)); err != nil {
		return nil, err
	}
	largest := float32(0)
	for _, x := range query {
		largest = max(largest, x, -x)
	}
	want := make([]int16, len(query))
	for i, x := range query {
		want[i] = int16(math.Round(float64(x * 2047 / largest)))
	}
	scores := make([]float32, len(c.ids))
	order := make([]int, len(c.ids))
	for i := range c.ids {
		scores[i], order[i] = float32(dot(want, c.data[i*c.length:(i+1)*c.length]))*c.scales[i], i
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(scores[b], scores[a]), a-b)
	})
	var out []ranking.Scored
	for _, i := range order[:min(limit, len(order))] {
		out = append(out, ranking.Scored{ID: c.ids[i], Score: float64(scores[i])})
	}
	return out, nil
}

// dot multiplies a vector of numbers below 2¹¹ with one below 2⁷; 8,192 of them fit the sum.
func dot(a []int16, b []int8) int64 {
	var sum int64
	for len(a) > 0 {
		n := min(len(a), 8192)
		sum += int64(dotPart(a[:n], b[:n]))
		a, b = a[n:], b[n:]
	}
	return sum
}

func dotPart(a []int16, b []int8) int32 {
	var s0, s1, s2, s3 int32
	b = b[:len(a)]
	i := 0
	for ; i+4 <= len(a); i += 4 {
		s0 += int32(a[i]) * int32(b[i])
		s1 += int32(a[i+1]) * int32(b[i+1])
		s2 += int32(a[i+2]) * int32(b[i+2])
		s3 += int32(a[i+3]) * int32(b[i+3])
	}
	for ; i < len(a); i++ {
		s0 += int32(a[i]) * int32(b[i])
	}
	return s0 + s1 + s2 + s3
}
