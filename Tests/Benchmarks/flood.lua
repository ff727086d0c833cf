-- Asks for another path with each request, whatever is answered.
local count = 0

request = function()
   count = count + 1
   return wrk.format("GET", "/made/odd/" .. count .. "?v=0")
end

-- The report is the same.
dofile(debug.getinfo(1, "S").source:match("^@(.*/)") .. "load.lua")
