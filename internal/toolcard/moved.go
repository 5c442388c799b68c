package toolcard

import (
	"strconv"
	"strings"
)

// The last line of the result of a command that the user moved to the jobs while it ran, around the job's number.
const (
	movedBefore = "[the user moved it to the background, where it runs as job "
	movedAfter  = "; job shows its further output and ends it]"
)

// MovedToJob returns the line that tells the model where a command goes on that the user moved to the jobs.
func MovedToJob(job int) string { return movedBefore + strconv.Itoa(job) + movedAfter }

// CutMoved returns a result without that line, which is for the model alone, and the number of the job; 0 if it has none.
func CutMoved(result string) (output string, job int) {
	last := strings.LastIndexByte(result, '\n') + 1
	number, ok := strings.CutPrefix(result[last:], movedBefore)
	if !ok {
		return result, 0
	}
	if number, ok = strings.CutSuffix(number, movedAfter); !ok {
		return result, 0
	}
	job, err := strconv.Atoi(number)
	if err != nil || job <= 0 {
		return result, 0
	}
	return result[:last], job
}

// ForPeople returns a result as people read it, who need not be told how the model goes on with its job.
func ForPeople(result string) string {
	out, job := CutMoved(result)
	if job > 0 {
		out += "(goes on in the background as job " + strconv.Itoa(job) + ")"
	}
	return out
}
