/** Normalizes ids to lower case, as they are stored. */
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/

/** Null if it is not a UUID. */
export function cleanId(text: string): string | null {
  const id = text.toLowerCase()
  return UUID.test(id) ? id : null
}
