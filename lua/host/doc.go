// Package host owns the child's side of Lua: the engine behind its guards, the globals that a script sees,
// and the loop that serves one piece of work after another over two pipes. Nothing else imports the engine.
//
// It must not know a tool, the registry or a file: it asks the other side for everything. It imports neither
// net nor os/exec, so a script that breaks out of the engine finds no ready-made way to the network or to
// another program.
package host
