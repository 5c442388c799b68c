// Package page owns the page on which the open sessions of a user are followed and answered in a browser: its server,
// the devices that may see it, and how it is drawn. It is a client of the processes that own the sessions, over the
// session protocol, and may do only what those allow. It must not know terminals, tools or the database.
//
// The way of one event: a feed is attached to a session and puts each line into a transcript, whose blocks know the
// number of the event that changed them last; a stream sends a browser the blocks that changed after the last number it
// has. So a connection that was lost goes on without a gap or a double. Start with server.go; guard.go says who gets in.
package page
