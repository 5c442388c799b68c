// Package skillscli is what a user sees of skills, command files and instructions: what they tell the agent in
// conversations (Guidance), the commands of `jcode skills` (Cmd), and the list of /skills. How they are found and read is
// package skills and skills/instructions.
package skillscli
