package retrieval_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"jcode/internal/passage"
	"jcode/session"
	"jcode/tools/retrieval"
)

// randomModel embeds every text as a random vector of 1,536 numbers.
type randomModel struct{ random *rand.Rand }

func (randomModel) Model() string { return "test/random" }

func (randomModel) Close() {}

func (m randomModel) Embed(_ context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i := range out {
		out[i] = make([]float32, 1536)
		for j := range out[i] {
			out[i][j] = m.random.Float32() - 0.5
		}
	}
	return out, nil
}

// BenchmarkSearch searches 10,000 passages (50 MB), by words alone and by meaning as well.
func BenchmarkSearch(b *testing.B) {
	for _, hybrid := range []bool{false, true} {
		b.Run(map[bool]string{false: "words", true: "hybrid"}[hybrid], func(b *testing.B) {
			dir := b.TempDir()
			store, err := session.Open(b.Context(), filepath.Join(dir, "a.db"), session.Options{})
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = store.Close() }()
			random := rand.New(rand.NewPCG(1, 2))
			docs := store.Documents()
			o := retrieval.Options{
				Index: docs, Root: dir, Inside: func(string) bool { return true }, Denied: func(string) string { return "" }, Notify: func(string, string) {},
			}
			if hybrid {
				o.Embedder = func() (retrieval.Embedder, error) { return randomModel{random}, nil }
			}
			room := retrieval.New(o)
			defer room.Close()
			one, err := store.Create(b.Context(), session.Session{Cwd: dir, ProjectID: dir})
			if err != nil {
				b.Fatal(err)
			}
			owner := session.SessionDocuments(one.ID)
			for f := range 100 {
				var list []passage.Passage
				for i := range 100 {
					var body strings.Builder
					for body.Len() < 5000 { // words with the frequencies of a language: a few are frequent, most are rare
						fmt.Fprintf(&body, "w%d ", int(random.ExpFloat64()*random.ExpFloat64()*800))
					}
					list = append(list, passage.Passage{Heading: fmt.Sprint("Part ", i), First: i + 1, Last: i + 1, Text: body.String()})
				}
				if err := docs.Put(b.Context(), owner, session.Document{Path: fmt.Sprint("https://example.org/", f), Hash: "h"}, list); err != nil {
					b.Fatal(err)
				}
			}
			var sources []string
			for f := range 100 {
				sources = append(sources, fmt.Sprint("https://example.org/", f))
			}
			if err := docs.AddSources(b.Context(), owner, sources...); err != nil {
				b.Fatal(err)
			}
			if err := room.UseSession(b.Context(), one.ID); err != nil {
				b.Fatal(err)
			}
			if err := room.Wait(b.Context(), nil); err != nil {
				b.Fatal(err)
			}
			began := time.Now()
			if _, _, err := room.Search(b.Context(), "w1", 6); err != nil {
				b.Fatal(err)
			}
			first := time.Since(began)
			b.ReportMetric(float64(first.Milliseconds()), "first-ms")
			for b.Loop() {
				hits, note, err := room.Search(b.Context(), fmt.Sprintf("how does w%d follow w%d and w%d", random.IntN(500), random.IntN(2000), random.IntN(3000)), 6)
				if err != nil || len(hits) == 0 || note != "" {
					b.Fatal(hits, note, err)
				}
			}
		})
	}
}

// BenchmarkBuild indexes 50 MB of Markdown in 500 files.
func BenchmarkBuild(b *testing.B) {
	dir := b.TempDir()
	random := rand.New(rand.NewPCG(1, 2))
	for f := range 500 {
		var body strings.Builder
		for body.Len() < 100_000 {
			fmt.Fprintf(&body, "# Part %d\n\n", body.Len())
			for end := body.Len() + 5000; body.Len() < end; {
				fmt.Fprintf(&body, "w%d ", int(random.ExpFloat64()*random.ExpFloat64()*800))
			}
			body.WriteString("\n\n")
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(f, ".md")), []byte(body.String()), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		store, err := session.Open(b.Context(), filepath.Join(b.TempDir(), "a.db"), session.Options{})
		if err != nil {
			b.Fatal(err)
		}
		room := retrieval.New(retrieval.Options{
			Index: store.Documents(), Root: dir, Inside: func(string) bool { return true }, Denied: func(string) string { return "" }, Notify: func(string, string) {},
		})
		if err := room.Add(b.Context(), "."); err != nil {
			b.Fatal(err)
		}
		if err := room.Wait(b.Context(), nil); err != nil {
			b.Fatal(err)
		}
		room.Close()
		if err := store.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// smallModel embeds every text as a random vector of 64 numbers.
type smallModel struct{ random *rand.Rand }

func (smallModel) Model() string { return "test/small" }

func (smallModel) Close() {}

func (m smallModel) Embed(_ context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i := range out {
		out[i] = make([]float32, 64)
		for j := range out[i] {
			out[i][j] = m.random.Float32() - 0.5
		}
	}
	return out, nil
}

// BenchmarkEmbed embeds passages that have no embedding yet: twice as many may take twice as long.
func BenchmarkEmbed(b *testing.B) {
	for _, passages := range []int{5_000, 10_000, 20_000} {
		b.Run(fmt.Sprint(passages), func(b *testing.B) {
			dir := b.TempDir()
			store, err := session.Open(b.Context(), filepath.Join(dir, "a.db"), session.Options{})
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = store.Close() }()
			docs := store.Documents()
			one, err := store.Create(b.Context(), session.Session{Cwd: dir, ProjectID: dir})
			if err != nil {
				b.Fatal(err)
			}
			owner := session.SessionDocuments(one.ID)
			for f := range passages / 100 {
				var list []passage.Passage
				for i := range 100 {
					list = append(list, passage.Passage{Heading: fmt.Sprint("Part ", i), First: i + 1, Last: i + 1, Text: strings.Repeat("word ", 400)})
				}
				doc := session.Document{Path: fmt.Sprint("https://example.org/", f), Hash: "h"}
				if err := docs.AddSources(b.Context(), owner, doc.Path); err != nil {
					b.Fatal(err)
				}
				if err := docs.Put(b.Context(), owner, doc, list); err != nil {
					b.Fatal(err)
				}
			}
			for b.Loop() {
				if err := docs.ForgetVectors(b.Context(), owner); err != nil {
					b.Fatal(err)
				}
				room := retrieval.New(retrieval.Options{
					Index: docs, Root: dir, Inside: func(string) bool { return true }, Denied: func(string) string { return "" }, Notify: func(string, string) {},
					Embedder: func() (retrieval.Embedder, error) { return smallModel{rand.New(rand.NewPCG(1, 2))}, nil },
				})
				if err := room.UseSession(b.Context(), one.ID); err != nil {
					b.Fatal(err)
				}
				if err := room.Wait(b.Context(), nil); err != nil {
					b.Fatal(err)
				}
				room.Close()
				if n, err := docs.CountVectors(b.Context(), []string{owner}, "test/small"); err != nil || n != passages {
					b.Fatal(n, err)
				}
			}
		})
	}
}
