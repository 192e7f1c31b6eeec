/** The option `group` of a kind: which group a job belongs to, by its payload. */
import { invalidValue } from '../errors.ts'
import { checkIndexedPath } from './indexed.ts'
import type { PayloadPath } from './payload-path.ts'
import { valueAt } from './value-at.ts'

/** A path in the payload such as `'tenant.id'`, or a function of the payload. */
export type GroupOption<Payload> = PayloadPath<Payload> | ((payload: Payload) => string | null | undefined)

export interface GroupRule {
  /** Undefined for a payload without a group. The caller checks the value. */
  readonly of: (payload: unknown) => unknown
  /** Undefined for a function. */
  readonly path: string | undefined
}

export function checkGroup(given: unknown, field: string): GroupRule {
  if (typeof given === 'function') {
    const groupOf = given as GroupRule['of']
    return { of: (payload) => groupOf(payload) ?? undefined, path: undefined }
  }
  if (typeof given !== 'string') {
    const fix = "Pass a path such as 'tenant.id', or a function of the payload"
    throw invalidValue(field, given, 'must be a payload path or a function', fix)
  }
  const parts = checkIndexedPath(given, field).split('.')
  const groupOf = (payload: unknown): unknown => {
    const value = valueAt(payload, parts)
    return typeof value === 'number' || typeof value === 'boolean' ? String(value) : (value ?? undefined)
  }
  return { of: groupOf, path: given }
}
