// Package snapshot tells what changed below a folder, whoever changed it, and keeps what was there before.
//
// Tree is what is known of a folder: for every file what the file system says of it and the hash of its content. A
// Look compares that with the disk: an unchanged file costs one lstat, a changed one is read. Contents keeps contents by
// hash, in files that several trees and programs share. Neither follows links, runs a program, or reads or writes
// anything of git's.
//
// It must not know who changed a file, nor how a change is undone: the session's checkpoints do.
package snapshot
