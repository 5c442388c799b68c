// Package cli is the program: it owns the command line and is the only package that knows all others.
//
// Main (cli.go) reads the arguments, carryOut (runner.go) runs what they name. A feature is a folder below this one; what
// it needs is its Setup or Options, which a file open….go fills: that is all that the wiring knows of it. An app (app.go) is jcode wired
// for one folder, of which no feature gets more than it names. runchat.go and interactive.go open the chat, chat.go is -p:
// answered once by package print, or fed by a program (package feed). Editors are served by package editors, the tour is
// played by package demo. What extensions there are, in their order, is in openextensions.go; what begins and continues a
// conversation in resume.go, in which role in package roles, what its model is told first in package prompt.
package cli
