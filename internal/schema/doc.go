// Package schema owns JSON Schemas as trees that preserve what a server or a script wrote: the order of
// members, and numbers as written. It parses and prints them, follows local references, walks their
// subschemas, and simplifies a schema for endpoints that understand only little of the language.
//
// It must not know whose schema it is, nor validate values against one.
package schema
