// Package doctorcli is `jcode doctor` and /doctor: Cmd in command.go is the first file to read. It checks what has no room
// of its own: the database, the terminal, the programs, the queue of tasks. Every feature checks
// itself with the Check of its folder; cli/opendoctor.go says in which order.
package doctorcli
