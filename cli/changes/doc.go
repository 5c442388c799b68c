// Package changes knows who changes which files of the workspace: this session's agents, other sessions and processes,
// and commands. It records it, tells those who lose something by it, and remembers what a conversation was shown.
package changes
