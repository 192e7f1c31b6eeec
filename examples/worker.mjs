// A worker pool child in JavaScript without dependencies, equivalent to worker.py. It reads one JSON line per
// request and writes one JSON line per answer; everything else goes to stderr.
import { createInterface } from 'node:readline'

/** @param {{ text?: string }} payload */
function handle({ text }) {
  if (text === undefined)
    return { status: 'dead', message: 'payload.text: is missing. Pass the text to count' }
  return { status: 'ok', result: { words: text.split(/\s+/).length } }
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, payload } = /** @type {{ id: string, payload: { text?: string } }} */ (JSON.parse(line))
  console.log(JSON.stringify({ id, ...handle(payload) }))
}
