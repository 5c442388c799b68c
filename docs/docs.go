// Package docs holds the pages of the manual, so that the program brings it along.
package docs

import "embed"

// Files are the pages, in Markdown.
//
//go:embed *.md
var Files embed.FS
