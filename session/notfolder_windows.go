package session

// Windows says "path not found" then, which counts as missing already.
func notFolder(error) bool { return false }
