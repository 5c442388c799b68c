package toolcard

import "testing"

// What the model is told about a job is not for people; what a command prints that looks like it is.
func TestTheLineAboutAJobIsForTheModelAlone(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"begun\n" + MovedToJob(3): "begun\n(goes on in the background as job 3)", MovedToJob(12): "(goes on in the background as job 12)",
		"plain\n": "plain\n", "": "",
		MovedToJob(1) + "\nmore":       MovedToJob(1) + "\nmore",
		"begun " + MovedToJob(1):       "begun " + MovedToJob(1),
		movedBefore + "x" + movedAfter: movedBefore + "x" + movedAfter,
		movedBefore + "1":              movedBefore + "1",
	} {
		if got := ForPeople(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
