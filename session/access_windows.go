package session

// The read-only attribute is seen in the mode bits; access lists speak on opening.
func writable(string) bool { return true }
