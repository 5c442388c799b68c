package mcp

import (
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// stdioLink is a server process as a link.
type stdioLink struct{ conn *stdioConn }

func (l stdioLink) transport() sdk.Transport { return stdioTransport(l) }
func (l stdioLink) tap() *tap                { return l.conn.tap }
func (l stdioLink) close()                   { _ = l.conn.Close() } // never fails
func (l stdioLink) kill()                    { l.conn.process.kill() }
func (l stdioLink) gone() <-chan struct{}    { return l.conn.process.gone }
func (l stdioLink) lost() <-chan struct{}    { return l.conn.ended }
func (l stdioLink) reason() error            { return l.conn.failure() }
func (l stdioLink) notifies() bool           { return true }
func (l stdioLink) pid() int                 { return l.conn.process.p.Pid() }
