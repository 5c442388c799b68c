// Package outputs owns what results of calls leave in jcode's data folder: the whole text of those that were cut, the output of
// commands, and saved contents. Only the session whose results name such a file reads it without a question, and what no
// other session names goes with the session.
//
// It must not know which tools there are.
package outputs
