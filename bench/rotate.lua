-- Sends the requests of a file in their order, and begins again after the last. Arguments: the file, the number of
-- requests to skip, a text that every answer must contain (empty: answers are not searched, which is quicker), and the
-- mean pause of a connection in milliseconds.
local requests, sent, threads = {}, 0, {}
wrong = 0

function setup(thread)
  threads[#threads + 1] = thread
end

function init(args)
  for text in io.open(args[1], 'rb'):read('*a'):gmatch('([^\30]+)\30') do requests[#requests + 1] = text end
  sent = tonumber(args[2])
  local expected, pause = args[3], tonumber(args[4] or '0')
  if pause > 0 then
    function delay() return math.random() * 2 * pause end
  end
  if expected == '' then return end
  function response(status, headers, body)
    if status < 400 and not body:find(expected, 1, true) then wrong = wrong + 1 end
  end
end

function request()
  sent = sent + 1
  return requests[(sent - 1) % #requests + 1]
end

function done(summary, latency)
  local errors = summary.errors
  local failed = errors.status + errors.connect + errors.read + errors.write + errors.timeout
  for _, thread in ipairs(threads) do failed = failed + thread:get('wrong') end
  io.write(string.format('{"answers":%d,"took":%f,"p50":%f,"p99":%f,"errors":%d}\n',
    summary.requests, summary.duration / 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3, failed))
end
