/** Selects failed jobs by the fingerprint of an error group, plain or folded. */
import { invalidValue } from '../../../job/errors.ts'
import { FINGERPRINT, fingerprintOf } from '../../../job/grouping/fingerprint.ts'
import { foldKeys } from '../../../job/grouping/fold.ts'
import { frameIn } from '../../../job/grouping/frame.ts'
import type { JobFailure } from '../../../store/types/job-record.ts'
import { MOST_KEYS } from './fold-errors.ts'

export type Fingerprints = ReadonlySet<string>

/** Splits at commas: a folded group has several keys. */
export function checkFingerprint(given: unknown, field: string): Fingerprints {
  const keys = typeof given === 'string' ? given.split(',', MOST_KEYS + 1) : []
  if (keys.length > 0 && keys.length <= MOST_KEYS && keys.every((key) => FINGERPRINT.test(key)))
    return new Set(keys)
  throw invalidValue(
    field,
    given,
    `must be a fingerprint: 16 hex digits, or up to ${MOST_KEYS} of these separated by commas`,
    'Use a fingerprint from mill.errors()',
  )
}

export function hasFingerprint(kind: string, { error, logEnd }: JobFailure, keys: Fingerprints): boolean {
  const { fingerprint, shape } = fingerprintOf(kind, error)
  return keys.has(fingerprint) || foldKeys(kind, shape, frameIn(logEnd)).some((key) => keys.has(key))
}
