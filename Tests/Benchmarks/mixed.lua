-- A mixed load over many chains of the generator: of each the version before the newest is held and advertised, and what
-- is newest changes while the load goes on. The arguments: how many chains, how many requests to a new version of all,
-- the number of the first version, and the file of a body with %PATH% and %VERSION% in it.
local ffi = require("ffi")
ffi.cdef("unsigned char *SHA256(const unsigned char *bytes, size_t count, unsigned char *digest);")
local crypto = ffi.load("libcrypto.so.3")
local digest = ffi.new("unsigned char[32]")
local letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

local chains, perVersion, version, count = 1, 1, 1, 0
local head, middle, tail

-- One choice for each request: most are deltas, as in the field; some clients have no dictionary or a strange one.
local codings = { "dcz", "dcb", "dcz", "dcb", "dcz", "dcb", "zstd", "br", "gzip", "identity" }

init = function(arguments)
   chains, perVersion, version = tonumber(arguments[1]), tonumber(arguments[2]), tonumber(arguments[3])
   local text = assert(io.open(arguments[4])):read("*a")
   head, middle, tail = text:match("^(.*)%%PATH%%(.*)%%VERSION%%(.*)$")
end

-- RFC 9842 section 2.2: the digest of what is held.
local function available(path, held)
   local body = head .. path .. middle .. held .. tail
   crypto.SHA256(body, #body, digest)
   local parts = {}
   for place = 0, 30, 3 do
      local bits = digest[place] * 65536 + digest[place + 1] * 256 + (place < 30 and digest[place + 2] or 0)
      for shift = 18, 0, -6 do
         local letter = math.floor(bits / 2 ^ shift) % 64 + 1
         parts[#parts + 1] = letters:sub(letter, letter)
      end
   end
   parts[#parts] = "="
   return ":" .. table.concat(parts) .. ":"
end

request = function()
   count = count + 1
   if count % perVersion == 0 then version = version + 1 end
   local path = "/made/" .. math.random(0, chains - 1)
   local coding = codings[math.random(#codings)]
   local held = math.random(50) == 1 and "none" or version - 1
   return wrk.format("GET", path .. "?v=" .. version, {
      ["Host"] = wrk.headers["Host"], ["Accept-Encoding"] = coding, ["Available-Dictionary"] = available(path, held),
   })
end

dofile(debug.getinfo(1, "S").source:match("^@(.*/)") .. "load.lua")
