// Package editorscli is what serves editors: `jcode acp` (Cmd), and what package cli/acp, which speaks the protocol, asks of
// jcode (Host): sessions that are opened, listed, copied and deleted. Remote serves editors over the network, within narrower
// limits; Commands are the slash commands that an editor has besides those of the chat.
package editorscli
