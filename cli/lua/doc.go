// Package luacli is what a user sees of Lua: scripts in conversations (Scripts: when they run, who is asked about them, what
// their commands may do), the commands of `jcode lua` (Cmd), the list and words of /lua, and what the doctor says of them
// (Check). Scripts themselves live in package lua. Begin with scripts.go.
package luacli
