// Package ordered owns JSON whose objects keep the order of their members: the Object, its
// decoding and encoding, and the conversion of Go values. What a model, a server or a script
// wrote is returned in the order in which it was written.
//
// It must not know what the JSON is for. Read object.go first.
package ordered
