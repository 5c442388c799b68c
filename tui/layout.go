package tui

// How much of something is shown before it folds, in lines or cells. The values suit a terminal of 80 columns
// and 24 lines.
const (
	promptLines  = 12   // of what the person sent
	thoughtLines = 3    // of thinking, while it continues
	foundLines   = 12   // of what was found after a change
	tailLines    = 5    // of a command's output
	failedLines  = 6    // of why a call failed
	diffLines    = 16   // of a change
	fullLines    = 2000 // of anything that is unfolded
	nestedShown  = 4    // calls of a sub-agent
	queueShown   = 3    // messages that wait
	agentsShown  = 4    // sub-agents in the strip above the input
	filesShown   = 3    // changed files that a turn's line names
	namesShown   = 6    // tools that were added or removed

	tailBytes = 16 << 10 // of output that is kept while a command runs

	proseCells    = 100 // most columns of prose
	splitWidth    = 110 // least width for a diff side by side
	fileChoices   = 50  // files that @ offers
	namesMeasured = 300 // rows of a list whose names set its column
	barWidth      = 20  // of the largest part in /context

	minHeight   = 4  // of a terminal with rule and status line
	airyHeight  = 10 // from here on an empty line separates the activity
	inputHeight = 10 // most lines of the input
	menuHeight  = 8  // most lines of the completion menu
	stripRoom   = 15 // rows that an open question needs before agents are shown above it
	roomyHeight = 12 // from here on an open question leaves the input visible
)
