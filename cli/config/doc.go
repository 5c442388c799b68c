// Package config owns jcode's settings: where its files lie, what config.json may hold,
// how the person's file and a project's come together, and how a setting is written
// back. A fault in one place costs that place only and is named with file, line, key
// and what would be right.
//
// It must not know what a setting does, and it draws in no other room: what a value
// means is decided where it is used.
package config
