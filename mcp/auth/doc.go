// Package auth owns signing in to MCP servers with OAuth 2.1: it discovers a server's
// authorization server, registers as a client, sends a person there, and stores and refreshes the
// tokens for all processes of this machine.
//
// It must not know how a person is asked (the caller passes a Person), what an MCP message is, or
// which servers are configured. Tokens are bound to a server's address.
//
// A request without a valid token is answered with 401. Session.Challenge then refreshes the
// token, or returns a NeedsSignIn that says where a person has to sign in. Keeper.SignIn takes
// them there. Read session.go first.
package auth
