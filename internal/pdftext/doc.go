// Package pdftext extracts the text of PDF files, page by page.
//
// It reads cross-reference tables and streams, rebuilds them where they are broken, opens
// files that are encrypted with an empty password, and follows the encodings of fonts. It
// does not draw, and does not recognise letters in pictures. Whatever the input, it ends: depth,
// decoded bytes and operators are limited, and the context is obeyed. Begin with text.go.
package pdftext
