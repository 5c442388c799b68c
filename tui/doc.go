// Package tui owns the terminal program: the transcript, the input with its editor, the dialogs, pickers and
// panels, the slash commands that concern the screen, themes, keys and the plain mode without a screen.
//
// It must not know where models, servers, skills or grants come from: it drives a Conversation, shows agent
// events, and lists Rows that others supply. Text from models and tools is data: no control sequence in it
// reaches the terminal.
package tui
