// Package hookscli is what a user sees of hooks: which of the configuration, of settings files, plugins and roles are in
// force (Hooks), which events of conversations they hear, how they run, what /hooks says of them, and the variables that
// they set for commands (Variables). The engine that runs them is package hooks. Begin with hooks.go.
package hookscli
