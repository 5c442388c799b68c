// Package mentions finds the files that a prompt names: those that @ completes (Files), those that another window of the user
// looks for (Finder), and pictures that are attached (Pictures).
package mentions
