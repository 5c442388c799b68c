// Package sandbox owns the confinement of commands: a child that is jcode itself, started again, drops its
// own rights and then becomes the command. On Linux it uses Landlock, and user, mount and network namespaces
// where the kernel allows them; other systems have nothing comparable, and the package reports that.
//
// It must not know which commands are confined, or who decides that.
package sandbox
