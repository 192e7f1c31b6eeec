/** The supported server versions and database encodings. */

const OLDEST = 14

/** What is wrong with a server version number (`180004`); null if it is supported. */
export function versionProblem(number: number): string | null {
  const major = Math.floor(number / 10_000)
  return major >= OLDEST ? null : `PostgreSQL ${major} is not supported (minimum ${OLDEST})`
}

/** Only this encoding can store any text that handlers receive, return or throw. */
export const ENCODING = 'UTF8'

export const ENCODING_FIX =
  "Use a UTF8 database: CREATE DATABASE jobs TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'"

/** What is wrong with the encoding of a database; null if it is supported. */
export function encodingProblem(encoding: string): string | null {
  return encoding === ENCODING
    ? null
    : `the database cannot store all characters, because its encoding is not ${ENCODING}`
}
