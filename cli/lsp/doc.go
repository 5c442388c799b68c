// Package lspcli is what a user sees of language servers: which are configured (Servers), when one may start and how it
// is confined (Open), what they add to conversations (Extension), and what the doctor says of them (Check). How they are
// talked to is package tools/lsp.
package lspcli
