//go:build linux || darwin

package cli_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"jcode/internal/testkit/modeltest"
)

// Documents are added in a chat, searched by the model, and stored with the session; the next session does not
// have them.
func TestDocumentsOfASession(t *testing.T) {
	t.Parallel()
	c := newChat(t,
		modeltest.Text("Hello."),
		modeltest.Calls(tool("c1", "docs_search", map[string]any{"query": "where do ships lie"})), modeltest.Text("At the quay."),
		modeltest.Text("Again."), modeltest.Text("Fresh."))
	if err := os.MkdirAll(filepath.Join(c.dir, "docs"), 0o700); err != nil {
		t.Fatal(err)
	}
	c.write("docs/rules.md", "# Harbour rules\n\nShips lie at the eastern quay.\n")
	c.write("docs/bad.txt", "a\x00b")
	c.start()
	c.say("/docs add docs")
	c.wait("2 documents, 1 passage", "docs/bad.txt: it is binary", "docs/rules.md, 1 passage")
	c.say("hello")
	c.wait("Hello.")
	if raw := string(c.request(0).Raw); !strings.Contains(raw, "Harbour rules (docs/rules.md)") {
		t.Errorf("what was added before the first message is not offered: %.3000s", raw)
	}
	c.say("where do ships lie?")
	c.wait("At the quay.", "1 passage")
	if raw := string(c.request(2).Raw); !strings.Contains(raw, "Ships lie at the eastern quay.") {
		t.Errorf("the passage did not reach the model")
	}
	c.say("/docs search quay")
	c.wait("docs/rules.md:1-3 Harbour rules")
	c.quit()
	c.start("-c")
	c.say("again")
	c.wait("Again.")
	if raw := string(c.request(3).Raw); !strings.Contains(raw, "Search the documents") {
		t.Errorf("after a resume the documents are gone")
	}
	c.say("/new")
	c.wait("Carry the last exchange over")
	c.Press("enter")
	c.wait("ask for something")
	c.say("fresh")
	c.wait("Fresh.")
	if raw := string(c.request(4).Raw); strings.Contains(raw, "docs_search") {
		t.Errorf("a new session has the documents of the one before")
	}
	c.quit()
}

// An embedding model also ranks by meaning; if it fails, the search by words still works.
func TestDocumentsWithAnEmbeddingModel(t *testing.T) {
	t.Parallel()
	fail := false
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var q struct{ Input []string }
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil || fail {
			http.Error(w, `{"error":{"message":"no quota"}}`, http.StatusForbidden)
			return
		}
		var data []string
		for i, text := range q.Input {
			near := 0
			if strings.Contains(text, "quay") || strings.Contains(text, "wharf") {
				near = 1
			}
			data = append(data, fmt.Sprintf(`{"index":%d,"embedding":[%d,%d]}`, i, near, 1-near))
		}
		fmt.Fprintf(w, `{"data":[%s]}`, strings.Join(data, ","))
	}))
	t.Cleanup(srv.Close)
	c := newChat(t)
	c.write("a.md", "Ships lie at the quay.\n")
	c.write("b.md", "Lights burn at dusk.\n")
	conf := fmt.Sprintf(`{"docs":{"embedding_model":"own/small"},"providers":{"own":{"base_url":%q,"local":true}}}`, srv.URL+"/v1")
	if err := os.WriteFile(filepath.Join(c.home, "config.json"), []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	c.start()
	c.say("/docs add a.md b.md")
	c.wait("2 with an embedding of own/small")
	c.say("/docs search wharf")
	c.wait("Ships lie at the quay")
	fail = true
	c.say("/docs search dusk")
	c.wait("ranked by words alone", "no quota", "Lights burn")
	c.quit()
}

// The index is on the disk, so a private conversation gets no documents of its own, from its start.
func TestAPrivateConversationGetsNoDocuments(t *testing.T) {
	t.Parallel()
	c := newChat(t)
	c.write("a.md", "Ships lie at the quay.\n")
	c.start("--private")
	c.say("/docs add a.md")
	c.wait("documents are indexed on the disk", "/save it first")
	c.say("/docs")
	c.wait("There are no documents")
	c.quit()
}
