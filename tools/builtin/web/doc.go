// Package web has the tools that read the web: fetch and websearch. An address is judged before each connection to it,
// redirects included (dial.go), what came is turned into text (page.go), and a search asks the service that the settings
// name (engines.go). Read fetch.go first.
package web
