// Package passage splits documents into passages that a search can return: sections of Markdown,
// declarations of source files, paragraphs of text, pages of PDFs.
//
// It reads no files and must not know who searches. Start with passage.go.
package passage
