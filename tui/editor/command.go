package editor

// Command is something that an editor does for a key. Its text is the name to which a person binds keys.
type Command string

// The commands.
const (
	Left       Command = "left"
	Right      Command = "right"
	WordLeft   Command = "word_left"
	WordRight  Command = "word_right"
	Home       Command = "line_start"
	End        Command = "line_end"
	DeleteBack Command = "delete_back"
	Delete     Command = "delete"
	DeleteWord Command = "delete_word_back"
	DeleteNext Command = "delete_word"
	KillEnd    Command = "kill_to_end"
	KillStart  Command = "kill_to_start"
	Yank       Command = "yank"
	Undo       Command = "undo"
	Redo       Command = "redo"
)
