/** Which servers and databases will do. */

const OLDEST = 14

/** What is wrong with a version as the server numbers it (`180004`), or null when it will do. */
export function versionProblem(number: number): string | null {
  const major = Math.floor(number / 10_000)
  return major >= OLDEST ? null : `PostgreSQL ${major} is older than ${OLDEST}`
}

/** The encoding of a database that can hold any text; others cannot store what handlers throw, return and are given. */
export const ENCODING = 'UTF8'

export const ENCODING_FIX =
  "Create a database that has it and use that: CREATE DATABASE jobs TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'"

/** What is wrong with the encoding of a database, or null when it will do. */
export function encodingProblem(encoding: string): string | null {
  return encoding === ENCODING ? null : `the database cannot hold every text: its encoding is not ${ENCODING}`
}
