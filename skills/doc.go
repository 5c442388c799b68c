// Package skills owns what people teach the agent in files: skills (folders with a SKILL.md, in
// the Agent Skills format) and commands (Markdown files that become `/name`). It finds and reads
// them, reads them again when they change, offers the tools `skill` and `reload_skills`, and
// tells each session what has changed.
//
// It must not know how a person is asked, where approvals are stored, or what a permission rule
// does: it passes on allowed-tools as the text of rules, once approved.
package skills
