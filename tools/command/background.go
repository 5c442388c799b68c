package command

// InBackground is the error of a command line that was moved to the background while it ran: "job 3".
type InBackground string

func (where InBackground) Error() string { return string(where) }
