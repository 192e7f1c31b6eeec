// A child of a pool in JavaScript, with no dependency: what worker.py does, for where there is no Python. One line of
// JSON in for every request, one line of JSON out for every answer; anything else goes to stderr.
import { createInterface } from 'node:readline'

/** @param {{ text?: string }} payload */
function handle({ text }) {
  if (text === undefined)
    return { status: 'dead', message: 'payload.text: is missing. Give the text to count' }
  return { status: 'ok', result: { words: text.split(/\s+/).length } }
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, payload } = /** @type {{ id: string, payload: { text?: string } }} */ (JSON.parse(line))
  console.log(JSON.stringify({ id, ...handle(payload) }))
}
