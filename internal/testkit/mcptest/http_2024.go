package mcptest

import (
	"net/http"
	"net/http/httptest"
)

// serve2024 serves the transport of 2024: answers arrive on one stream.
func (s *HTTPServer) serve2024(w http.ResponseWriter, req *http.Request, m message) {
	switch {
	case req.Method == http.MethodPost && req.URL.Path == "/mcp":
		w.WriteHeader(http.StatusMethodNotAllowed)
	case req.Method == http.MethodPost:
		w.WriteHeader(http.StatusAccepted)
		if len(m.ID) == 0 {
			return
		}
		rec := httptest.NewRecorder()
		if m.Method == "initialize" {
			s.respond(rec, m.ID, `{"protocolVersion":"2024-11-05","capabilities":{"tools":{}},"serverInfo":{"name":"old","version":"1"}}`, nil)
		} else {
			s.answer(rec, req, m)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, ch := range s.streams {
			ch <- rec.Body.String()
		}
	case req.Method == http.MethodGet:
		w.Header().Set("Content-Type", "text/event-stream")
		s.hold(w, req, "event: endpoint\ndata: /messages?session=1\n\n")
	}
}
