// Package sandbox owns the confinement of commands: a child that is jcode itself, started
// anew, takes rights away from itself and then becomes the command. On Linux it uses
// Landlock, and user, mount and network namespaces where the kernel allows them; other
// systems have nothing of the kind, and it says so.
//
// It must not know which commands are confined, or who decides that.
package sandbox
