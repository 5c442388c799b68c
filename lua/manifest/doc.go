// Package manifest owns the format of a tool folder: the names of its two files, what mcp_tool.json says, the
// permissions that a tool or plugin declares, and the stamps by which a change of a folder is noticed.
//
// Folders lists what is below a root, with a Stamp for each; Parse reads mcp_tool.json into a Manifest;
// Schema is what the model is shown of it, Rights what a person is shown. While the tool runs, its
// Permissions say which files, commands, hosts and tools it has declared (CoversFile, CoversCommand,
// Network.Allows).
//
// The package must not know the registry, the gate, trust or how Lua runs: a declaration grants nothing by
// itself. Read manifest.go first, then permissions.go.
package manifest
