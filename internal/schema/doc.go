// Package schema owns JSON Schemas as trees that keep what a server or a script wrote: the
// order of members and numbers as they stand. It reads and prints them, follows local
// references, walks what a schema holds, and makes a schema simple for endpoints that
// understand only little of the language.
//
// It must not know whose schema it is, nor check values against one.
package schema
