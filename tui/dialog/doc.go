// Package dialog is what takes the place of the input for a while: questions that a call, the model or a server asks,
// lists to choose from, forms, pages, the help. A dialog names what it needs of the program as a Host; a Stack holds
// those that are open.
package dialog
