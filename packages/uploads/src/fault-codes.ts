/** Classifies failures by the error codes of the operating system, SQLite, PostgreSQL and the mill. */
import { isJobmillError } from 'jobmill'

const FULL = new Set(['ENOSPC', 'EDQUOT', 'EFBIG', 'SQLITE_FULL', '53100'])
const FULL_DATABASE = new Set(['SQLITE_FULL', '53100'])

export function codesOf(error: unknown): string[] {
  const codes: string[] = []
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth += 1) {
    if (isJobmillError(at) || ('code' in at && typeof at.code === 'string')) codes.push(String(at.code))
    if (at instanceof AggregateError) codes.push(...at.errors.flatMap(codesOf))
    if (at.message.startsWith('timeout exceeded when trying to connect')) codes.push('ETIMEDOUT')
  }
  return codes
}

/** The disk or database is full. */
export function isFull(error: unknown): boolean {
  return codesOf(error).some((code) => FULL.has(code))
}

/** The database itself reported that it is full, so it has rolled back. */
export function isFullDatabase(error: unknown): boolean {
  return codesOf(error).some((code) => FULL_DATABASE.has(code))
}
