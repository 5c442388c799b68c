-- Runs once per call, in a fresh environment. Try it: jcode lua run NAME path=README.md
-- Functions: `jcode lua stubs` writes jcode.d.lua with everything that there is.

local file = jcode.read(path)
if not file.ok then
  return { ok = false, error = file.error } -- an error result: the model reads it
end

local content = file.content
if content ~= "" and content:sub(-1) ~= "\n" then
  content = content .. "\n"
end
local lines, longest, where = 0, "", 0
for line in content:gmatch("(.-)\n") do
  lines = lines + 1
  if #line > #longest then
    longest, where = line, lines
  end
end

print("looked at", path) -- goes to the log (/lua log), never into the result

local before = state.get("lines:" .. path) -- kept across calls and restarts
state.set("lines:" .. path, lines)

local text = string.format("%s has %d lines; the longest is line %d with %d bytes", path, lines, where, #longest)
if before and before ~= lines then
  text = text .. string.format(" (%+d lines since the last call)", lines - before)
end
return text
