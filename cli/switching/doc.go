// Package switching offers what other coding agents have set up: settings, MCP servers, permissions, hooks, commands and
// instructions, each as an item that says what taking it over does. It reads their files and changes none of them; what
// it writes are jcode's own files, and only for items that are taken. Start with item.go; `jcode import` is command.go.
package switching
