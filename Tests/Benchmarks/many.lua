-- Sends the requests of a list again and again: each line of the file that is named last is a path and its fields, with
-- tabs between.
local requests, count = {}, 0

init = function(arguments)
   for line in assert(io.open(arguments[1])):lines() do
      local path, fields = nil, { Host = wrk.headers["Host"] }
      for part in line:gmatch("[^\t]+") do
         local name, value = part:match("^([%w-]+): (.*)$")
         if name then fields[name] = value else path = part end
      end
      requests[#requests + 1] = wrk.format("GET", path, fields)
   end
end

request = function()
   count = count + 1
   return requests[(count - 1) % #requests + 1]
end

-- The report is the same.
dofile(debug.getinfo(1, "S").source:match("^@(.*/)") .. "load.lua")
