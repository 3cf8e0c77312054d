-- Cotillion in Wireshark and tshark. docs/understand/protocol.md has the layout.
--
--   tshark -X lua_script:tools/cotillion.lua -r capture.pcap
--   tshark -X lua_script:tools/cotillion.lua -r capture.pcap -Y 'cotillion.flags.late == 1'
--
-- or copy it into the folder "Personal Lua Plugins" of Help > About > Folders. What a packet breaks
-- is an expert item (filter: cotillion.malformed, cotillion.cut, cotillion.odd). Nothing here uses
-- operators or libraries that differ between Lua 5.2 (Wireshark 4.0) and 5.4 (4.4).

local PORT = 29900
local VERSION = 1
local HEADER, TRAILER, BEAT, PACKET_MAX = 32, 8, 64, 65448
local GRID_ENTRY = 8

local DATA, PARTIAL, RESULT, REPAIR, NAK = 1, 2, 3, 4, 5
local END, HEARTBEAT, ACK, GONE, CONTROL = 6, 7, 8, 9, 10
local TYPES = {
  [DATA] = "DATA", [PARTIAL] = "PARTIAL", [RESULT] = "RESULT", [REPAIR] = "REPAIR", [NAK] = "NAK",
  [END] = "END", [HEARTBEAT] = "HEARTBEAT", [ACK] = "ACK", [GONE] = "GONE", [CONTROL] = "CONTROL",
}
local ELEMENTS = { [1] = "f32", [2] = "bf16", [3] = "i32" }
local ELEMENT_BYTES = { [1] = 4, [2] = 2, [3] = 4 }
local OPERATIONS = { [1] = "sum", [2] = "weighted sum" }
local ZERO, MAC = 0x02, 0x80
local NUMBERS_SHOWN = 16384  -- of a request; a tree of half a million lines helps nobody

local cotillion = Proto("cotillion", "Cotillion")
local f = {
  version = ProtoField.uint8("cotillion.version", "Version", base.DEC, nil, 0xf0),
  type = ProtoField.uint8("cotillion.type", "Type", base.DEC, TYPES, 0x0f),
  flags = ProtoField.uint8("cotillion.flags", "Flags", base.HEX),
  job = ProtoField.uint16("cotillion.job", "Job", base.DEC),
  round = ProtoField.uint32("cotillion.round", "Round", base.DEC),
  chunk = ProtoField.uint32("cotillion.chunk", "Chunk", base.DEC),
  sequence = ProtoField.uint32("cotillion.sequence", "Sequence", base.DEC),
  mask = ProtoField.uint64("cotillion.mask", "Mask", base.HEX),
  contributor = ProtoField.uint8("cotillion.contributor", "Contributor", base.DEC),
  weight = ProtoField.uint32("cotillion.weight", "Weight", base.DEC),
  element = ProtoField.uint8("cotillion.element", "Element", base.DEC, ELEMENTS, 0xf0),
  operation = ProtoField.uint8("cotillion.operation", "Operation", base.DEC, OPERATIONS, 0x0f),
  exponent = ProtoField.int8("cotillion.exponent", "Exponent", base.DEC),
  epoch = ProtoField.uint16("cotillion.epoch", "Epoch", base.DEC, nil, 0xf000),
  clique = ProtoField.uint16("cotillion.clique", "Clique", base.DEC, nil, 0x0fff),
  payload = ProtoField.bytes("cotillion.payload", "Payload"),
  elements = ProtoField.uint32("cotillion.elements", "Elements", base.DEC),
  requested = ProtoField.uint32("cotillion.requested", "Number", base.DEC),
  boot = ProtoField.uint64("cotillion.boot", "Boot id", base.HEX),
  grid_chunk = ProtoField.uint32("cotillion.grid.chunk", "From chunk", base.DEC),
  grid_exponent = ProtoField.int8("cotillion.grid.exponent", "Exponent", base.DEC),
  crc = ProtoField.uint32("cotillion.crc", "CRC32C", base.HEX),
  crc_good = ProtoField.bool("cotillion.crc.good", "CRC32C is right"),
  nonce = ProtoField.uint32("cotillion.nonce", "Boot nonce", base.HEX),
  tag = ProtoField.bytes("cotillion.tag", "Authentication tag"),
}
local FLAGS = {
  { 0x01, "resent", "RESENT", "a copy; outside the seal" },
  { 0x02, "zero", "ZERO", "all zeros, payload left out" },
  { 0x04, "clamped", "CLAMPED", "a sender clamped values to the grid" },
  { 0x08, "nan_dropped", "NAN_DROPPED", "an edge dropped a contribution for NaN" },
  { 0x10, "congested", "CONGESTED", "a router marked congestion" },
  { 0x20, "late", "LATE", "passed through after its deadline" },
  { 0x40, "grid", "GRID", "integers on the grid of the exponent" },
  { 0x80, "mac", "MAC", "the trailer is an authentication tag" },
}
for _, flag in ipairs(FLAGS) do
  flag.field = ProtoField.bool("cotillion.flags." .. flag[2], flag[3] .. " (" .. flag[4] .. ")", 8,
                               nil, flag[1])
  f["flag_" .. flag[2]] = flag.field
end

local fields = {}
for _, field in pairs(f) do fields[#fields + 1] = field end
cotillion.fields = fields

local malformed = ProtoExpert.new("cotillion.malformed", "No Cotillion packet",
                                  expert.group.MALFORMED, expert.severity.ERROR)
local odd = ProtoExpert.new("cotillion.odd", "A field that its type does not allow",
                            expert.group.PROTOCOL, expert.severity.WARN)
local cut = ProtoExpert.new("cotillion.cut", "Cut short by the capture",
                            expert.group.UNDECODED, expert.severity.NOTE)
local bad_crc = ProtoExpert.new("cotillion.crc.bad", "The check sum is wrong",
                                expert.group.CHECKSUM, expert.severity.ERROR)
cotillion.experts = { malformed, odd, cut, bad_crc }

cotillion.prefs.check_crc = Pref.bool("Verify CRC32C", true,
                                      "Costs about 0.1 ms for each packet without a tag")

-- Bits, without the operators that Lua 5.2 does not have.
local function has(value, bit) return math.floor(value / bit) % 2 == 1 end

local xor = bit32 and bit32.bxor or load("return function(a, b) return a ~ b end")()
local crc_table = {}
for byte = 0, 255 do
  local state = byte
  for _ = 1, 8 do
    local low = state % 2
    state = math.floor(state / 2)
    if low == 1 then state = xor(state, 0x82f63b78) end
  end
  crc_table[byte] = state
end

local function crc32c(bytes)
  local state = 0xffffffff
  for at = 1, #bytes do
    state = xor(math.floor(state / 256), crc_table[xor(state % 256, bytes:byte(at))])
  end
  return xor(state, 0xffffffff)
end

-- Calls visit(number, byte offset) for each bit that is set, from the lowest on.
local function each_bit(range, visit)
  for at = 0, range:len() - 1 do
    local byte = range(at, 1):uint()
    for bit = 0, 7 do
      if byte ~= 0 and has(byte, 2 ^ bit) then visit(8 * at + bit, at) end
    end
  end
end

-- "{0-2, 5}" of a sorted list: shown where there is only one line.
local function set_text(numbers)
  local parts, at = {}, 1
  while at <= #numbers do
    local last = at
    while last < #numbers and numbers[last + 1] == numbers[last] + 1 do last = last + 1 end
    parts[#parts + 1] = last == at and string.format("%d", numbers[at])
        or string.format("%d-%d", numbers[at], numbers[last])
    at = last + 1
    if #parts == 16 and at <= #numbers then
      parts[#parts + 1] = "..."
      break
    end
  end
  return "{" .. table.concat(parts, ", ") .. "}"
end

local function add_flags(tree, range)
  local value, names = range:uint(), {}
  local item = tree:add(f.flags, range)
  for _, flag in ipairs(FLAGS) do
    item:add(flag.field, range)
    if has(value, flag[1]) then names[#names + 1] = flag[3] end
  end
  if #names > 0 then item:append_text(" (" .. table.concat(names, " ") .. ")") end
  return value, names
end

local function add_mask(tree, range)
  local item, bits = tree:add_le(f.mask, range), {}
  each_bit(range, function(bit, at)
    bits[#bits + 1] = bit
    item:add(f.contributor, range(at, 1), bit):set_generated()
  end)
  item:append_text(" " .. set_text(bits))
  return set_text(bits)
end

-- What `chunk` means in packets that carry no sum.
local OPERANDS = {
  [REPAIR] = "first chunk asked for", [NAK] = "first sequence asked for",
  [END] = "sequence after the last packet", [HEARTBEAT] = "sequence of the next packet",
  [ACK] = "sequence below which nothing is needed", [GONE] = "first number that is gone",
  [CONTROL] = "entries",
}

local function add_header(tree, tvb)
  local h = {}
  tree:add(f.version, tvb(0, 1))
  tree:add(f.type, tvb(0, 1))
  h.version, h.type = math.floor(tvb(0, 1):uint() / 16), tvb(0, 1):uint() % 16
  h.flags, h.flag_names = add_flags(tree, tvb(1, 1))
  tree:add_le(f.job, tvb(2, 2))
  tree:add_le(f.round, tvb(4, 4))
  local chunk = tree:add_le(f.chunk, tvb(8, 4))
  if OPERANDS[h.type] then chunk:append_text(" (" .. OPERANDS[h.type] .. ")") end
  tree:add_le(f.sequence, tvb(12, 4))
  h.job, h.round = tvb(2, 2):le_uint(), tvb(4, 4):le_uint()
  h.chunk, h.sequence = tvb(8, 4):le_uint(), tvb(12, 4):le_uint()
  h.contributors = add_mask(tree, tvb(16, 8))
  local weight = tree:add_le(f.weight, tvb(24, 4))
  if h.type == END or h.type == HEARTBEAT then
    weight:append_text(" (sequence of the round's first packet)")
  end
  tree:add(f.element, tvb(28, 1))
  tree:add(f.operation, tvb(28, 1))
  h.element = math.floor(tvb(28, 1):uint() / 16)
  tree:add(f.exponent, tvb(29, 1))
  tree:add_le(f.epoch, tvb(30, 2))
  tree:add_le(f.clique, tvb(30, 2))
  return h
end

local function is_sum(type) return type == DATA or type == PARTIAL or type == RESULT end
local function is_request(type) return type == REPAIR or type == NAK or type == GONE end

local function add_request(item, range, h)
  local numbers = {}
  each_bit(range, function(bit, at)
    local number = (h.chunk + bit) % 2 ^ 32
    numbers[#numbers + 1] = number
    if #numbers > NUMBERS_SHOWN then return end
    item:add(f.requested, range(at, 1), number):set_generated()
  end)
  item:append_text(" " .. set_text(numbers))
  if #numbers > NUMBERS_SHOWN then
    item:append_text(string.format(", the first %d of %d shown", NUMBERS_SHOWN, #numbers))
  end
  h.what = set_text(numbers)
  if #numbers == 0 then item:add_proto_expert_info(odd, "A bitmap without a bit") end
end

local function add_boot(item, range, h)
  item:add_le(f.boot, range(0, 8))
  h.what = "boot 0x" .. range(0, 8):le_uint64():tohex(16)
end

local function add_grid(item, range, h)
  local entries = math.min(h.chunk, math.floor(range:len() / GRID_ENTRY))
  local texts = {}
  for entry = 0, entries - 1 do
    local bytes = range(entry * GRID_ENTRY, GRID_ENTRY)
    local text = string.format("2^%d from chunk %d on", bytes(4, 1):int(), bytes(0, 4):le_uint())
    local line = item:add(cotillion, bytes, "Grid: " .. text)
    line:add_le(f.grid_chunk, bytes(0, 4))
    line:add(f.grid_exponent, bytes(4, 1))
    if entry < 4 then texts[#texts + 1] = text end
  end
  if entries > #texts then texts[#texts + 1] = "..." end
  h.what = "grid " .. table.concat(texts, ", ")
end

local function add_payload(tree, tvb, available, h)
  if available == 0 then return end
  local range = tvb(HEADER, available)
  local item = tree:add(f.payload, range)
  if is_sum(h.type) and ELEMENT_BYTES[h.element] then
    item:add(f.elements, range, math.floor(available / ELEMENT_BYTES[h.element])):set_generated()
  elseif is_request(h.type) then
    add_request(item, range, h)
  elseif h.type == HEARTBEAT and available >= 8 then
    add_boot(item, range, h)
  elseif h.type == CONTROL then
    add_grid(item, range, h)
  end
end

local function add_trailer(tree, tvb, at, h)
  if has(h.flags, MAC) then
    tree:add(f.tag, tvb(at, TRAILER))
    return
  end
  local item = tree:add_le(f.crc, tvb(at, 4))
  tree:add_le(f.nonce, tvb(at + 4, 4))
  if not cotillion.prefs.check_crc then return end
  local flags = string.char(h.flags - h.flags % 2)
  local covered = tvb:raw(0, 1) .. flags .. tvb:raw(2, at - 2) .. tvb:raw(at + 4, 4)
  local right, found = crc32c(covered), tvb(at, 4):le_uint()
  item:add(f.crc_good, tvb(at, 4), right == found):set_generated()
  if right ~= found then
    item:add_proto_expert_info(bad_crc, string.format("CRC32C should be 0x%08x", right))
  end
end

-- What the type does not allow, as sentences.
local function oddities(h, payload)
  local list = {}
  local function note(text) list[#list + 1] = text end
  if h.job == 0 then note("Job 0 is reserved") end
  if is_sum(h.type) then
    if not ELEMENT_BYTES[h.element] then note("Unknown element") end
    if h.contributors == "{}" then note("A sum of nobody's contributions") end
    if has(h.flags, ZERO) and payload > 0 then note("ZERO with a payload") end
    if not has(h.flags, ZERO) and payload == 0 then note("A sum without payload") end
  elseif is_request(h.type) then
    if payload == 0 then note("A bitmap is missing") end
  elseif h.type == HEARTBEAT then
    if payload == 0 then note("A heartbeat without boot id") end
  elseif h.type == CONTROL then
    if h.chunk == 0 then note("A change without entries") end
    if h.chunk * GRID_ENTRY > payload then note("More entries than the payload holds") end
  elseif payload > 0 then
    note("A payload where none belongs")
  end
  return list
end

local function info_text(h)
  local text = string.format("%s job %d round %d", TYPES[h.type], h.job, h.round)
  if is_sum(h.type) then
    text = text .. string.format(" chunk %d seq %d from %s", h.chunk, h.sequence, h.contributors)
  elseif h.type == END or h.type == ACK or h.type == HEARTBEAT then
    text = text .. string.format(" up to seq %d", h.chunk)
  elseif h.type == REPAIR then
    text = text .. " of " .. h.contributors .. " chunks"
  elseif h.type == NAK then
    text = text .. " seqs"
  end
  if h.what then text = text .. " " .. h.what end
  if #h.flag_names > 0 then text = text .. " [" .. table.concat(h.flag_names, " ") .. "]" end
  return text
end

local function what_is_wrong(h, length)
  if h.version ~= VERSION then return string.format("Unknown version %d", h.version) end
  if not TYPES[h.type] then return string.format("Unknown type %d", h.type) end
  if length < HEADER + TRAILER then return string.format("%d bytes have no trailer", length) end
  if length > PACKET_MAX then return string.format("%d bytes are too many", length) end
  if (length - HEADER - TRAILER) % BEAT ~= 0 then
    return string.format("A payload of %d bytes is not whole beats of %d",
                         length - HEADER - TRAILER, BEAT)
  end
  return nil
end

local function refuse(tree, pinfo, text)
  pinfo.cols.info = "Malformed: " .. text
  tree:add_proto_expert_info(malformed, text)
end

function cotillion.dissector(tvb, pinfo, root)
  local length, captured = tvb:reported_len(), tvb:len()
  pinfo.cols.protocol = "Cotillion"
  local tree = root:add(cotillion, tvb())
  if captured < HEADER then
    if captured < length then
      pinfo.cols.info = "Cut short by the capture"
      tree:add_proto_expert_info(cut)
    else
      refuse(tree, pinfo, string.format("%d bytes have no header", length))
    end
    return captured
  end

  local h = add_header(tree, tvb)
  local wrong = what_is_wrong(h, length)
  if wrong then
    refuse(tree, pinfo, wrong)
    return captured
  end
  local payload = length - HEADER - TRAILER
  add_payload(tree, tvb, math.min(payload, captured - HEADER), h)
  if captured == length then
    add_trailer(tree, tvb, length - TRAILER, h)
  else
    tree:add_proto_expert_info(cut)
  end
  for _, text in ipairs(oddities(h, payload)) do tree:add_proto_expert_info(odd, text) end
  local text = info_text(h)
  pinfo.cols.info = text
  tree:append_text(", " .. text)
  return captured
end

DissectorTable.get("udp.port"):add(PORT, cotillion)
