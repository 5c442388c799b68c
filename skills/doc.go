// Package skills owns what people teach the agent in files: skills (folders with a
// SKILL.md, in the Agent Skills format) and commands (Markdown files that become
// `/name`). It finds and reads them, reads them again when they change, offers the
// `skill` and `reload_skills` tools, and tells each session what has changed.
//
// It must not know how a person is asked, where approvals are stored, or what a
// permission rule does: allowed-tools leave here as rules in text, once approved.
package skills
