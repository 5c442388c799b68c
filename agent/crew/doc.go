// Package crew owns the sub-agents of a conversation: it starts them in a call or in the background, forwards their
// questions, follows what they do, tells their ends, and carries out the orders that are given to them. A
// conversation is its Host, and each agent's conversation a Child; it knows neither's making. crew.go is the file to
// read first.
package crew
