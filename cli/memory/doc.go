// Package memory connects notes with conversations: what a session begins with, whose words a note is made of and what
// was read before, which notes were used, drafts, and what a person sees and does with all that (/memory, jcode memory).
//
// Notes themselves are in package notes. It must not know how a list is drawn. Begin with
// memory.go.
package memory
