package wire

import sdk "github.com/modelcontextprotocol/go-sdk/mcp"

// Link is a connection below the protocol: a process with its pipes, or an HTTP session.
type Link interface {
	// Transport returns the transport for the protocol library; it connects once.
	Transport() sdk.Transport
	// Tap sees the link's messages.
	Tap() *Tap
	// Close ends it and does not wait: what takes time happens in the background.
	Close()
	// Kill ends it without any grace.
	Kill()
	// Gone is closed when it has ended and everything of it was released.
	Gone() <-chan struct{}
	// Lost is closed when it ended by itself.
	Lost() <-chan struct{}
	// Reason returns why it was lost.
	Reason() error
	// PID is the process's id; 0 without a process.
	PID() int
	// Notifies reports whether the server can announce changes of its lists.
	Notifies() bool
}
