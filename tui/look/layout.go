package look

// How much of something is shown before it folds, in lines or cells. The values suit a terminal of 80 columns
// and 24 lines.
const (
	PromptLines  = 12   // of what the person sent
	ThoughtLines = 3    // of thinking, while it continues
	FoundLines   = 12   // of what was found after a change
	TailLines    = 5    // of a command's output
	FailedLines  = 6    // of why a call failed
	DiffLines    = 16   // of a change
	FullLines    = 2000 // of anything that is unfolded
	NestedShown  = 4    // calls of a sub-agent
	QueueShown   = 3    // messages that wait
	AgentsShown  = 4    // sub-agents in the strip above the input
	FilesShown   = 3    // changed files that a turn's line names
	NamesShown   = 6    // tools that were added or removed

	TailBytes = 16 << 10 // of output that is kept while a command runs

	ProseCells    = 100 // most columns of prose
	SplitWidth    = 110 // least width for a diff side by side
	FileChoices   = 50  // files that @ offers
	NamesMeasured = 300 // rows of a list whose names set its column
	BarWidth      = 20  // of the largest part in /context

	MinHeight   = 4  // of a terminal with rule and status line
	AiryHeight  = 10 // from here on an empty line separates the activity
	InputHeight = 10 // most lines of the input
	MenuHeight  = 8  // most lines of the completion menu
	StripRoom   = 15 // rows that an open question needs before agents are shown above it
	RoomyHeight = 12 // from here on an open question leaves the input visible
)
