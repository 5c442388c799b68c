package chat_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"jcode/agent/model/chat"
	"jcode/agent/model/provider"
)

func TestEmbeddingsComeInTheOrderOfTheTexts(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	answer := func(w http.ResponseWriter, r *http.Request) {
		var q struct {
			Model  string   `json:"model"`
			Input  []string `json:"input"`
			Format string   `json:"encoding_format"`
		}
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil || r.URL.Path != "/v1/embeddings" || q.Model != "small" || q.Format != "float" || r.Header.Get("Authorization") != "Bearer sk-secret-key" {
			t.Errorf("%s %+v %v %v", r.URL, q, r.Header, err)
		}
		var data []string
		for i := len(q.Input) - 1; i >= 0; i-- { // last first
			data = append(data, fmt.Sprintf(`{"object":"embedding","index":%d,"embedding":[%d,0.5]}`, i, len(q.Input[i])))
		}
		fmt.Fprintf(w, `{"object":"list","data":[%s],"model":"small","usage":{"prompt_tokens":3,"total_tokens":3}}`, strings.Join(data, ","))
	}
	for _, tc := range []struct {
		name   string
		before func(n int32, w http.ResponseWriter) bool
		want   string // of the error
		asks   int32
	}{
		{name: "well", asks: 1},
		{name: "busy once", asks: 2, before: func(n int32, w http.ResponseWriter) bool {
			if n == 1 {
				http.Error(w, `{"error":{"message":"slow down"}}`, http.StatusTooManyRequests)
			}
			return n == 1
		}},
		{name: "wrong key", asks: 1, want: "wrong key", before: func(_ int32, w http.ResponseWriter) bool {
			http.Error(w, `{"error":{"message":"wrong key sk-secret-key"}}`, http.StatusUnauthorized)
			return true
		}},
		{name: "no API", asks: 1, want: "404", before: func(_ int32, w http.ResponseWriter) bool {
			http.Error(w, "<html>not here</html>", http.StatusNotFound)
			return true
		}},
		{name: "one is missing", asks: 3, want: "no embedding for text 1 of 2", before: func(_ int32, w http.ResponseWriter) bool {
			fmt.Fprint(w, `{"data":[{"index":0,"embedding":[1]}]}`)
			return true
		}},
		{name: "one too many", asks: 3, want: "embedding for text 7 of 2", before: func(_ int32, w http.ResponseWriter) bool {
			fmt.Fprint(w, `{"data":[{"index":7,"embedding":[1]}]}`)
			return true
		}},
	} {
		asked.Store(0)
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if n := asked.Add(1); tc.before != nil && tc.before(n, w) {
				return
			}
			answer(w, r)
		}))
		e, err := chat.NewEmbedder(provider.Config{Name: "own", BaseURL: srv.URL + "/v1", Key: "sk-secret-key", Limits: quick}, "small")
		if err != nil {
			t.Fatal(err)
		}
		out, err := e.Embed(t.Context(), []string{"a", "bcd"})
		e.Close()
		srv.Close()
		switch {
		case tc.want == "" && (err != nil || fmt.Sprint(out) != "[[1 0.5] [3 0.5]]"):
			t.Errorf("%s: %v %v", tc.name, out, err)
		case tc.want != "" && (err == nil || strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), tc.want)):
			t.Errorf("%s: %v", tc.name, err)
		}
		if asked.Load() != tc.asks {
			t.Errorf("%s: asked %d times", tc.name, asked.Load())
		}
	}
}
