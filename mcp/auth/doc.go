// Package auth owns signing in to MCP servers with OAuth 2.1: finding a server's
// authorization server, registering as a client, sending a person to it, and keeping and
// refreshing what comes of that, for all processes of this machine.
//
// It must not know how a person is asked (a Person is handed in), what an MCP message is, or
// which servers are configured. What it keeps is bound to a server's address.
//
// A request without a valid token is answered with 401. Session.Challenge then refreshes,
// or returns a NeedsSignIn that says where a person has to go. Keeper.SignIn takes them
// there. Read session.go first.
package auth
