package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"jcode/internal/proc"
	"jcode/internal/text"
	"jcode/mcp/config"
	"jcode/mcp/schema"
)

// headersHelper is a command that prints the headers of a server. It runs at connect and
// after a refusal.
type headersHelper struct {
	host *Host
	t    config.Resolved

	running sync.Mutex // one run at a time
	mu      sync.Mutex
	got     map[string]string
}

const (
	helperLimit  = 10 * time.Second
	helperOutput = 64 << 10
)

// headers are those of the last run; nil without a helper.
func (h *headersHelper) headers() map[string]string {
	if h == nil {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.got
}

// run runs the command and takes its headers.
func (h *headersHelper) run(ctx context.Context) error {
	h.running.Lock()
	defer h.running.Unlock()
	ctx, cancel := context.WithTimeout(ctx, helperLimit)
	defer cancel()
	out, err := h.output(ctx)
	if err != nil {
		return err
	}
	got, err := parseHeaders(out)
	if err != nil {
		return Permanentf("headersHelper %s: %v", h.t.HelperName, err)
	}
	h.mu.Lock()
	h.got = got
	h.mu.Unlock()
	return nil
}

func (h *headersHelper) output(ctx context.Context) (string, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return "", fmt.Errorf("make a pipe for headersHelper: %w", err)
	}
	defer func() { _ = r.Close() }() // read as far as needed
	env := append(append([]string{}, h.t.Env...), "JCODE_MCP_URL="+h.t.URL)
	spec, err := h.t.Confined(proc.Spec{Argv: h.t.Helper, Dir: h.t.Dir, Env: env, Stdout: w})
	if err != nil {
		_ = w.Close() // nothing was written
		return "", Permanentf("headersHelper: %v", err)
	}
	p, err := h.host.launcher.Start(spec)
	_ = w.Close() // the child has its own copy
	if err != nil {
		return "", Permanentf("headersHelper: %v", startError(h.t.Helper[0], err))
	}
	stop := context.AfterFunc(ctx, func() { _ = r.SetReadDeadline(time.Now()) }) // pipes have deadlines
	data, err := io.ReadAll(io.LimitReader(r, helperOutput))
	stop()
	if err == nil {
		select {
		case <-p.Done():
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	left := p.Kill() // processes that it left behind
	switch {
	case err != nil:
		text := fmt.Sprintf("headersHelper %s did not end within %s", h.t.HelperName, helperLimit)
		return "", &Fault{Text: text, Retry: RetryTimeout, Err: errors.Join(err, left)}
	case left != nil:
		return "", left
	case p.Exit().Code != 0:
		return "", Permanentf("headersHelper %s failed (exit status %d)", h.t.HelperName, p.Exit().Code)
	}
	return string(data), nil
}

// parseHeaders reads a JSON object of strings, or lines `Name: value`. Values are secrets:
// errors must not quote them.
func parseHeaders(out string) (map[string]string, error) {
	got := map[string]string{}
	if trimmed := strings.TrimSpace(out); strings.HasPrefix(trimmed, "{") {
		if json.Unmarshal([]byte(trimmed), &got) != nil {
			return nil, errors.New("its output is not a JSON object of strings")
		}
	} else {
		for line := range strings.Lines(trimmed) {
			name, value, ok := strings.Cut(line, ":")
			if !ok {
				return nil, errors.New("a line of its output is not a header (Name: value)")
			}
			got[strings.TrimSpace(name)] = strings.TrimSpace(value)
		}
	}
	for name, value := range got {
		if !schema.HeaderName(name) || strings.ContainsAny(value, "\r\n\x00") {
			return nil, fmt.Errorf("%q is not a header name, or its value is not a header value", text.Ellipsis(name, 40))
		}
	}
	return got, nil
}
