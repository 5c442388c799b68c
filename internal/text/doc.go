// Package text owns the three measures of text and the borders between them: cutting bytes at grapheme
// borders, cleaning external text, and measuring terminal cells. Every other package that cuts, cleans or
// measures does it here.
//
// It must not know where a text comes from or where it is shown.
package text
