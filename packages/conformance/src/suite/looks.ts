/** Assertions and small helpers that many cases share. */
import assert from 'node:assert/strict'
import { type Enqueued, type ErrorCode, isJobmillError, type JobState, type Verdict } from 'jobmill/store'

/** One field of each item. With several fields: a row of them for each item. */
export function pluck<T, K extends keyof T>(items: readonly T[], field: K): T[K][]
export function pluck<T, const K extends readonly (keyof T)[]>(
  items: readonly T[],
  ...fields: K
): { -readonly [I in keyof K]: T[K[I]] }[]
export function pluck<T>(items: readonly T[], ...fields: (keyof T)[]): unknown[] {
  const [field] = fields
  return items.map((item) =>
    fields.length === 1 && field !== undefined ? item[field] : fields.map((one) => item[one]),
  )
}

/** The replies to an enqueue of new jobs with these ids. */
export function enqueued(ids: readonly string[]): Enqueued[] {
  return ids.map((id) => ({ id, outcome: 'enqueued' }))
}

export function total(numbers: readonly number[]): number {
  return numbers.reduce((sum, one) => sum + one, 0)
}

export function repeat<T>(value: T, count: number): T[] {
  return Array.from({ length: count }, () => value)
}

/** Some fields of a record. */
export type Expected<T> = { readonly [Name in keyof T]?: T[Name] | undefined }

/** Checks the named fields of a record, and ignores the others. */
export function hasFields<T extends object>(record: T | null | undefined, expected: Expected<T>): void {
  assert.ok(record)
  const names = Object.keys(expected) as (keyof T)[]
  assert.deepEqual(Object.fromEntries(names.map((name) => [name, record[name]])), expected)
}

export function isVerdict(
  actual: Verdict | undefined,
  verdict: Verdict['verdict'],
  state: JobState | null,
  holder?: string,
): void {
  assert.deepEqual([actual?.verdict, actual?.state, actual?.holder], [verdict, state, holder])
}

export async function rejectsWith(code: ErrorCode, act: () => Promise<unknown>): Promise<void> {
  await assert.rejects(
    act,
    (error: unknown) => isJobmillError(error) && error.code === code,
    `expected ${code}`,
  )
}
