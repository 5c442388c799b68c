// Package system answers what differs between the systems that jcode runs on, if more than one package asks
// or the answer is one word. The answers are in one file per system.
package system

import "slices"

// FoldsNames reports whether file names that differ only in case are usually one file here.
func FoldsNames() bool { return foldsNames }

// MayFoldNames reports whether file names that differ only in case may be one file here, for callers that
// lose nothing by treating two files as one.
func MayFoldNames() bool { return mayFoldNames }

// FoldsVariables reports whether the names of environment variables that differ only in case
// are one variable here.
func FoldsVariables() bool { return foldsVariables }

// HasModes reports whether the mode of a file says who can read it. Elsewhere the permissions of its folder
// apply.
func HasModes() bool { return hasModes }

// HasDrives reports whether an absolute path begins with a drive.
func HasDrives() bool { return hasDrives }

// HasTTY reports whether a terminal is a stream of bytes that TERM and the locale describe.
func HasTTY() bool { return hasTTY }

// GNUTools reports whether the programs of the search path accept the flags of GNU's.
func GNUTools() bool { return gnuTools }

// KeyringNeedsBus reports whether the keyring of the system is reached over a session bus.
func KeyringNeedsBus() bool { return keyringNeedsBus }

// LacksKeyring reports whether an error of the keyring says that there is none, unlike one that is locked or
// silent.
func LacksKeyring(err error) bool { return lacksKeyring(err) }

// ShellName returns a person's shell if SHELL names none.
func ShellName() string { return shellName }

// TempFolders returns the folders in which every program of this machine may make files, besides the one of
// os.TempDir.
func TempFolders() []string { return tempFolders() }

// ManagedFolder returns the folder in which whoever administers this machine keeps settings for all its users. No
// variable changes it.
func ManagedFolder() (string, error) { return managedFolder() }

// Guarded returns why something other than its owner can change a file or folder, or others can't read it; owner is the
// number of the user that must own it. Where files have permissions of another kind, owner means nothing and the
// administrators must own it. A link is not followed, and is never guarded.
func Guarded(path string, owner int) error { return guarded(path, owner) }

// Shell returns the start of a command line whose next argument is a line for the shell that comes with the system,
// whatever the environment says; nil if there is none.
func Shell() []string { return slices.Clone(systemShell()) }

// ProgramPath returns the search path of the system's own programs, "" if it is not known.
func ProgramPath() string { return programPath }
