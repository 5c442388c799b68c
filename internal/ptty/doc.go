// Package ptty makes pseudo terminals, and starts programs that go on in the background on one.
package ptty
