package wire

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"jcode/internal/testkit/mcptest"
	"jcode/mcp/config"
)

const patience = 30 * time.Second

// stdioLink starts a fault server as a link.
func stdioLink(t *testing.T, h *Host, mode string) Link {
	t.Helper()
	c := mcptest.Server(mode)
	e := config.NewEntry("s")
	e.Target = config.Target{Type: config.Stdio, Command: c.Path, Args: c.Args, Env: c.Env}
	target, err := config.Environment{Base: os.Environ()}.Resolve(e)
	if err != nil {
		t.Fatal(err)
	}
	l, err := h.StartStdio(target, NewLog(t.TempDir(), "s"), e.MaxFrame)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func httpLink(t *testing.T, h *Host, mode string) Link {
	t.Helper()
	server := mcptest.NewHTTP(mode)
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	e := config.NewEntry("s")
	e.Target = config.Target{Type: config.HTTP, URL: server.Endpoint()}
	target, err := config.Environment{}.Resolve(e)
	if err != nil {
		t.Fatal(err)
	}
	l, err := h.OpenHTTP(t.Context(), target, NewLog("", "s"), e.MaxFrame, HTTPMode{})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func connectLink(t *testing.T, l Link) *sdk.ClientSession {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cs, err := sdk.NewClient(&sdk.Implementation{Name: "test"}, nil).Connect(ctx, l.Transport(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close(); _ = cs.Close() }) // the link has ended
	return cs
}

func closedWithin(t *testing.T, what string, ch <-chan struct{}) {
	t.Helper()
	select {
	case <-ch:
	case <-time.After(patience):
		t.Fatalf("%s did not happen", what)
	}
}

// A link carries a call, returns its result as the server wrote it, and ends.
func TestLinkCarriesACallAndEnds(t *testing.T) {
	for kind, open := range map[string]func(*testing.T, *Host, string) Link{"stdio": stdioLink, "http": httpLink} {
		t.Run(kind, func(t *testing.T) {
			h := NewHost(nil)
			defer h.Close(patience)
			l := open(t, h, "ok")
			cs := connectLink(t, l)
			ctx, x := WithExchange(t.Context(), "tools/call")
			if _, err := cs.CallTool(ctx, &sdk.CallToolParams{Name: "echo", Arguments: map[string]any{"text": "hello"}}); err != nil {
				t.Fatal(err)
			}
			raw, sent, err := x.Outcome()
			if err != nil || !sent || !strings.Contains(string(raw), "echo: hello") {
				t.Errorf("outcome %s, sent %v, %v", raw, sent, err)
			}
			if (l.PID() != 0) != (kind == "stdio") {
				t.Errorf("pid %d", l.PID())
			}
			l.Close()
			closedWithin(t, "the end of the link", l.Gone())
		})
	}
}

// A process that ends by itself is a lost link with a reason.
func TestProcessThatEndsIsALostLink(t *testing.T) {
	h := NewHost(nil)
	defer h.Close(patience)
	l := stdioLink(t, h, "ok")
	connectLink(t, l)
	l.Kill()
	closedWithin(t, "the loss", l.Lost())
	if err := l.Reason(); err == nil || RetryOf(err) != RetryExit {
		t.Errorf("lost for %v", err)
	}
	closedWithin(t, "the end of the link", l.Gone())
}

// Closing the host ends every link, even one that was not closed.
func TestHostEndsItsLinks(t *testing.T) {
	h := NewHost(nil)
	links := []Link{stdioLink(t, h, "ok"), httpLink(t, h, "ok")}
	for _, l := range links {
		connectLink(t, l)
	}
	h.Close(patience)
	for _, l := range links {
		closedWithin(t, "the end of a link", l.Gone())
	}
}
