// Package ranking owns which texts fit a question best: the words of a text and of a question, how rankings by words
// and by meaning are joined, and an index in memory for collections that are small.
//
// It must not know what the texts are or where they are kept.
package ranking
