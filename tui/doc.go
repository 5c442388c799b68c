// Package tui owns the terminal program: the loop, the input with its completion, the slash commands that concern the
// screen, sessions, panels and the status line. What is drawn of a conversation is tui/transcript, what takes the place
// of the input tui/dialog, keys and themes tui/look, the form without a screen tui/plain.
//
// It must not know where models, servers, skills or grants come from: it drives a Conversation, shows agent
// events, and lists Rows that others supply. Text from models and tools is data: no control sequence in it
// reaches the terminal.
package tui
