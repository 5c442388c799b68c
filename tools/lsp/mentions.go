package lsp

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"jcode/internal/search"
)

const (
	maxFiles     = 20_000           // of a folder that are searched for a name
	maxMentions  = 60               // files that are opened because they contain a name
	mentionLimit = 10 * time.Second // for the search, and again for the server to read what was found
)

// mentioning lists the server's files in the workspace that contain a name as a word, at most limit.
func (in *instance) mentioning(ctx context.Context, name string, limit int) (paths []string) {
	ctx, cancel := context.WithTimeout(ctx, mentionLimit)
	defer cancel()
	for _, dir := range in.workFolders() {
		names, err := search.Names(ctx, dir, maxFiles)
		if err != nil {
			continue // what can't be searched is not found
		}
		for _, file := range names {
			path := filepath.Join(dir, filepath.FromSlash(file))
			if len(paths) == limit || ctx.Err() != nil {
				return paths
			}
			if !in.server.serves(path) || in.around.denies(path) || slices.Contains(paths, path) {
				continue
			}
			if content, _, err := readDocument(path); err == nil && len(occurrences(content, name)) > 0 {
				paths = append(paths, path)
			}
		}
	}
	return paths
}

// openMentions shows a server that knows only open files those that contain a name, and waits until it has read
// them. It returns them.
func (in *instance) openMentions(ctx context.Context, name string) (paths []string) {
	if !in.server.OpenOnly {
		return nil
	}
	paths = in.mentioning(ctx, name, maxMentions)
	sent := time.Now()
	for _, path := range paths {
		if _, err := in.sync(ctx, path); err != nil && ctx.Err() != nil {
			return paths
		}
	}
	in.await(ctx, paths, sent, mentionLimit)
	return paths
}

// leftOut says which files still contain a name.
func (in *instance) leftOut(before []string, name string) string {
	var left []string
	for _, path := range before {
		if content, _, err := readDocument(path); err == nil && len(occurrences(content, name)) > 0 {
			left = append(left, in.around.shown(path))
		}
	}
	switch {
	case len(left) > 0:
		return fmt.Sprintf("[%s is still in %s: other symbols, comments, or what %s does not see; look with grep]", name, strings.Join(left, ", "), in.server.Name)
	case len(before) == maxMentions:
		return fmt.Sprintf("[%s was looked for in %d files only: look for others with grep]", name, maxMentions)
	}
	return ""
}
