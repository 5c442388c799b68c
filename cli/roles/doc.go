// Package rolescli is what a user sees of roles: which of this folder count (Files), what is done with them (Actions), the
// commands of `jcode roles` (Cmd), the list of /roles, /role (ChatCommand), what waits for trust, and how changed files are
// followed (Watch). In a conversation, Starts enters the role with which it begins or continues, and Scopes says what a role
// allows there: its values (values.go), its texts and its names (Names).
// What a role is and where it comes from is package session/role.
package rolescli
