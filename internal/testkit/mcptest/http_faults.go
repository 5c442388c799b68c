package mcptest

import (
	"fmt"
	"net/http"
)

// callFault spoils the answer to the first call and reports whether it did.
func (s *HTTPServer) callFault(w http.ResponseWriter, m message) bool {
	switch s.mode {
	case "503once", "cut", "202", "badjson", "sse-early", "reset":
	default:
		return false
	}
	if !s.once() {
		return false
	}
	switch s.mode {
	case "503once":
		w.Header().Set("Retry-After", "1")
		http.Error(w, "overloaded", http.StatusServiceUnavailable)
	case "cut":
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", "1000")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,`, m.ID)
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	case "reset":
		panic(http.ErrAbortHandler)
	case "202":
		w.WriteHeader(http.StatusAccepted)
	case "badjson":
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"jsonrpc":"2.0","id":`)
	case "sse-early":
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, ": only a comment\n\n")
	}
	return true
}
