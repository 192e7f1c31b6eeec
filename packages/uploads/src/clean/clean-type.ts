/** Cleans a media type for use in a header: type and subtype in visible ASCII, without parameters. */
export const UNKNOWN_TYPE = 'application/octet-stream'
const LONGEST_TYPE = 255

/** Returns an empty string if no type is given. */
export function cleanType(given: string): string {
  const [type = ''] = given.split(';', 1)
  const bare = type.trim()
  if (bare === '') return ''
  return /^[\x21-\x2e\x30-\x7e]+\/[\x21-\x2e\x30-\x7e]+$/.test(bare) && bare.length <= LONGEST_TYPE
    ? bare
    : UNKNOWN_TYPE
}
