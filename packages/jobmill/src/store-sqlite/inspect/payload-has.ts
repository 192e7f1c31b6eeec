/**
 * An SQL function that checks whether a payload has values at paths. SQLite's own JSON functions format
 * numbers differently, and cannot address every key in a path.
 */
import { hasAll, type PayloadAt } from '../../store/payload-at.ts'

export const PAYLOAD_HAS = 'jobmill_payload_has'

interface Definable {
  function(
    name: string,
    options: { readonly deterministic: boolean },
    answer: (payload: string, sought: string) => number,
  ): unknown
}

export function definePayloadHas(handle: Definable): void {
  // The argument is the same for every row of a statement, so it is parsed once.
  let last: { readonly text: string; readonly sought: readonly PayloadAt[] } = { text: '[]', sought: [] }
  handle.function(PAYLOAD_HAS, { deterministic: true }, (payload, text) => {
    if (last.text !== text) last = { text, sought: JSON.parse(text) as PayloadAt[] }
    return hasAll(payload, last.sought) ? 1 : 0
  })
}
