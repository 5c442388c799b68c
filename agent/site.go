package agent

import "jcode/agent/crew"

// Site is a copy of the files in which one sub-agent works.
type Site interface {
	crew.Site
	// Equip points a conversation's options at the site.
	Equip(opt *Options)
	// Begin is called with the conversation that works there, before its first prompt.
	Begin(child *Conversation)
}
