// Package lsptest owns a language server that misbehaves on purpose, for a language of its
// own: files that end in .fake, with lines `def NAME`, `use NAME` and `error TEXT`. Its fault
// is chosen by its first argument.
//
// It must not know how jcode's client works; it only speaks the protocol.
package lsptest
