//go:build linux || darwin

package cli_test

import (
	"strings"
	"testing"

	"jcode/internal/testkit/terminal"
)

// Below an edit, the chat shows who else has changed the file and who is about to change it.
func TestPersonSeesWhoElseWorksOnAFile(t *testing.T) {
	t.Parallel()
	c := newChat(t)
	c.write("a.txt", "one\n")
	c.write("b.txt", "b\n")
	c.start("--mode", "yolo", "-m", "replay:"+scriptOf(t, `{"tool_calls":[{"name":"read","arguments":{"path":"a.txt"}},{"name":"read","arguments":{"path":"b.txt"}}]}
{"tool_calls":[{"name":"task","arguments":{"prompt":"append","name":"dora"}}]}
{"agent":"dora","tool_calls":[{"name":"exec","arguments":{"cmd":"echo two >> a.txt"}}]}
{"agent":"dora","text":"Appended."}
{"tool_calls":[{"name":"edit","arguments":{"path":"a.txt","old_string":"one","new_string":"ONE"}}]}
{"tool_calls":[{"name":"task","arguments":{"prompt":"claim","name":"cleo","background":true}}]}
{"agent":"cleo","tool_calls":[{"name":"agent","arguments":{"action":"claim","paths":["b.txt"]}}]}
{"agent":"cleo","tool_calls":[{"name":"exec","arguments":{"cmd":"touch claimed; while [ ! -e ended ]; do sleep 0.05; done"}}]}
{"agent":"cleo","text":"Done."}
{"tool_calls":[{"name":"exec","arguments":{"cmd":"while [ ! -e claimed ]; do sleep 0.05; done"}}]}
{"tool_calls":[{"name":"edit","arguments":{"path":"b.txt","old_string":"b","new_string":"B"}}]}
{"text":"Both are there."}
`))
	c.say("go")
	c.wait("a.txt had changed on disk since the model saw it, while a command of", "the agent cleo works on", "Both are there.")
	c.write("ended", "")
	c.wait("agent cleo done: Done.")
	c.quit()
}

// The questions of an agent that its call waits for show its name and its folder.
func TestQuestionsNameTheAgentThatACallWaitsFor(t *testing.T) {
	t.Parallel()
	c := newChat(t)
	c.start("--mode", "edits", "-m", "replay:"+scriptOf(t, `{"tool_calls":[{"name":"task","arguments":{"prompt":"touch","name":"dora"}}]}
{"agent":"dora","tool_calls":[{"name":"exec","arguments":{"cmd":"touch made"}}]}
{"agent":"dora","tool_calls":[{"name":"ask","arguments":{"question":"Now?","options":["yes","no"]}}]}
{"agent":"dora","text":"Touched."}
{"text":"It is there."}
`))
	c.say("go")
	c.answerable("dora: Run a command", "the agent dora, in ")
	c.Press("y")
	c.answerable("Now?", "(the agent dora, in ")
	c.Press("1")
	c.wait("It is there.")
	c.quit()
}

// An approval for once or for an agent applies to the agent that asked; one for the session applies to all
// agents.
func TestAnAnswerForOneAgentHoldsForNoOther(t *testing.T) {
	t.Parallel()
	c := newChat(t)
	touch := `"tool_calls":[{"name":"exec","arguments":{"cmd":"touch same"}}]}` + "\n"
	task := `{"tool_calls":[{"name":"task","arguments":{"prompt":"touch","name":"NAME"}}]}` + "\n" + `{"agent":"NAME",` + touch + `{"agent":"NAME",` + touch + `{"agent":"NAME","text":"Touched."}` + "\n"
	script := ""
	for _, agent := range []string{"ann", "ben", "cat", "dan"} {
		script += strings.ReplaceAll(task, "NAME", agent)
	}
	c.start("--mode", "edits", "-m", "replay:"+scriptOf(t, script+"{"+touch+`{"text":"All touched it."}`+"\n"))
	c.say("go")
	for _, answer := range []struct{ agent, key string }{{"ann", "y"}, {"ann", "y"}, {"ben", "s"}, {"cat", "3"}} {
		c.answerable(answer.agent+": Run a command", "the agent "+answer.agent+", in ", "s  for this agent: this command", "3  until I leave, for all agents: this command")
		c.Press(answer.key)
		c.until(func(s terminal.Screen) bool { return !s.Contains("esc aside") })
	}
	c.wait("All touched it.") // neither dan nor the main conversation was asked
	c.quit()
}
