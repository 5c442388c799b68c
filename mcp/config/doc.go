// Package config owns which MCP servers there are and what each of them runs. It reads the files of jcode and
// of other programs, picks one definition of each name, and writes to the files of a person and of a project.
//
// Load reads every file leniently (parse.go, keys.go), Config.Choose picks one definition of each name,
// Environment.Resolve expands it into what is really run, and Mask hides the secrets of what is shown.
// names.go owns the names of servers and tools. Begin with config.go.
//
// It must not know whether a server runs: nothing here starts a process or opens a connection.
package config
