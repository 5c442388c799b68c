// Package look is how the terminal looks and is used: the one table of keys, the themes, how much of something is
// shown, and the rows that all views are made of.
package look
