// Package windowscli lets other windows of the user follow the open conversation: a browser, another terminal, an editor.
// Windows (windows.go, the first to read) offers each conversation on the socket of this process; Actions is what is done
// from there that its owner does with commands.
package windowscli
