// Package goalcli is /loop and /goal as a user sees them: what stands after them (commands.go, the first to read), and who
// judges whether a goal is reached (judge.go). How a conversation goes on is package pursuit's.
package goalcli
