// Package pluginscli is what a user sees of plugins: which are in use now (Bundles) and how that changes while jcode runs
// (Life), the commands of `jcode plugins` (Cmd), the list of /plugins, what programs of a plugin may do (Rights), and
// what the doctor says of them (Check). What a plugin is and how it is fetched is package plugins.
package pluginscli
