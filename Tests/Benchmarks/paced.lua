-- A load that does not wait for answers alone: each connection pauses between its requests, so that so many of them make
-- a rate whatever an answer takes. Latency is counted from when a request is sent.
dofile(string.gsub(debug.getinfo(1).source, "^@(.*)paced.lua$", "%1load.lua"))

local pause

function init(arguments)
   pause = tonumber(arguments[1])
end

-- Milliseconds; spread evenly, or all connections would ask at once.
function delay()
   return math.random(0, 2 * pause)
end
