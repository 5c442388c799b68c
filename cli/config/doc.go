// Package config owns jcode's settings: where the files are, what config.json may contain, how the person's
// file and a project's are combined, and how a setting is written back. A fault affects only its own place
// and is reported with file, line, key and the correct form.
//
// It must not know what a setting does, and it imports no other package for that: what a value means is
// decided where it is used.
package config
