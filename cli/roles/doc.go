// Package rolescli is what a user sees of roles: which of this folder count (Files), what is done with them (Actions), the
// commands of `jcode roles` (Cmd), the list of /roles, what waits for trust, and how changed files are followed (Watch).
// What a role is and where it comes from is package session/role; what its names mean in a conversation is decided in cli.
package rolescli
