// Package retrieval owns the documents of roles and sessions: which files and pages they are,
// their index, and the tool that searches it.
//
// A Collection is what a role or a session names: paths, globs, addresses. The Room brings the
// index of those in use up to date in the background, watches their folders, and offers
// docs_search while there is anything to search. Passages are ranked by their words (BM25), and
// where the person names an embedding model by meaning as well.
//
// It must not know roles, conversations or the terminal. Begin with room.go.
package retrieval
