// Package permissionscli is what a user sees of permissions: rules, grants and rights as lists (Actions, the first to read,
// in command.go), `jcode permissions` (Cmd), /permissions, and what of a project stays off until it is trusted (Untrusted).
// It also keeps what the gate and the trust remember, in the database (Grants, TrustRows). What may run is decided in package
// tools/permission.
package permissionscli
