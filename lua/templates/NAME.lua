-- A plugin lives as long as jcode: it can offer several tools, slash commands and event
-- handlers. It returns a table; nothing has rights before init() runs.

local plugin = {
  id = "NAME", -- must equal the file's name
  -- The ceiling for everything below; a person approves it once per version.
  -- Keys: capabilities, events, intents, exec, mcp, env, fs, network, mcp_admin.
  permissions = { events = { "turn_end" } },
}

function plugin.init()
  jcode.register_intent({
    name = "NAME_turns",
    description = "Say how many turns this session has had so far.",
    read_only = true,
    handler = function()
      return { success = true, data = state.get("turns") or 0 }
    end,
  })

  jcode.command("NAME", {
    description = "Show the number of turns",
    run = function() return "turns so far: " .. (state.get("turns") or 0) end,
  })

  jcode.on("turn_end", function(ev)
    state.set("turns", ev.turn)
  end)
end

return plugin
