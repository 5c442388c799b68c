// Package core is what the features of jcode share: the points at which a feature adds something to jcode, its
// Extension. A feature is a folder of cli: it returns its Extension, and names what it needs in its constructor. What
// several of them need comes here, and what only one needs stays with it.
package core
