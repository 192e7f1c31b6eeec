/** Ids as they are stored: canonical, in lower case, whatever case they came in. */
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/

/** Null for what is no UUID. */
export function cleanId(text: string): string | null {
  const id = text.toLowerCase()
  return UUID.test(id) ? id : null
}
