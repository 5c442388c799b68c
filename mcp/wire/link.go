package wire

import sdk "github.com/modelcontextprotocol/go-sdk/mcp"

// Link is a connection below the protocol: a process with its pipes, or an HTTP session.
type Link interface {
	// Transport returns the transport for the protocol library; it connects once.
	Transport() sdk.Transport
	// Tap returns the observer of the link's messages.
	Tap() *Tap
	// Close ends the link without waiting; the rest happens in the background.
	Close()
	// Kill ends the link at once.
	Kill()
	// Gone is closed when the link has ended and all its resources are released.
	Gone() <-chan struct{}
	// Lost is closed when the link ended unexpectedly.
	Lost() <-chan struct{}
	// Reason returns why the link was lost.
	Reason() error
	// PID is the process's id; 0 without a process.
	PID() int
	// Notifies reports whether the server can announce changes of its lists.
	Notifies() bool
}
