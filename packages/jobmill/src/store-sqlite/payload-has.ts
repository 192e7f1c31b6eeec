/**
 * Whether a payload has values at paths, as a function that SQL can call. SQLite has such functions of its own, but they write
 * numbers in another way than JSON does, and cannot name every key in a path.
 */
import { hasAll, type PayloadAt } from '../store/payload-at.ts'

export const PAYLOAD_HAS = 'jobmill_payload_has'

interface Definable {
  function(
    name: string,
    options: { readonly deterministic: boolean },
    answer: (payload: string, sought: string) => number,
  ): unknown
}

export function definePayloadHas(handle: Definable): void {
  // The same for every row of a statement, so it is read once.
  let last: { readonly text: string; readonly sought: readonly PayloadAt[] } = { text: '[]', sought: [] }
  handle.function(PAYLOAD_HAS, { deterministic: true }, (payload, text) => {
    if (last.text !== text) last = { text, sought: JSON.parse(text) as PayloadAt[] }
    return hasAll(payload, last.sought) ? 1 : 0
  })
}
