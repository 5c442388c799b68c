// Package terminal owns a terminal for tests and pictures: a pseudo terminal with an emulator behind it, in
// which a program is started, receives keys and is examined. It reads cells with colours and the cursor,
// waits for a condition on the screen with a deadline, and draws a screen as SVG.
//
// It must not know which program runs. It exists on Linux and macOS; Screen and SVG work everywhere.
package terminal
