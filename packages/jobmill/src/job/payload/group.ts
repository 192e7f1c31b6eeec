/** The option `group` of a kind: which group a job belongs to, by its payload. */
import { invalidValue } from '../errors.ts'
import { checkIndexedPath } from './indexed.ts'
import type { PayloadPath } from './payload-path.ts'
import { valueAt } from './value-at.ts'

/** A path in the payload such as `'tenant.id'`, or a function of the payload. */
export type GroupOption<Payload> = PayloadPath<Payload> | ((payload: Payload) => string | null | undefined)

/** Undefined for a payload without a group. The caller checks the value. */
export type GroupOf = (payload: unknown) => unknown

export function checkGroup(given: unknown, field: string): GroupOf {
  if (typeof given === 'function') return (payload) => (given as GroupOf)(payload) ?? undefined
  if (typeof given !== 'string') {
    const fix = "Pass a path such as 'tenant.id', or a function of the payload"
    throw invalidValue(field, given, 'must be a payload path or a function', fix)
  }
  const path = checkIndexedPath(given, field).split('.')
  return (payload) => {
    const value = valueAt(payload, path)
    return typeof value === 'number' || typeof value === 'boolean' ? String(value) : (value ?? undefined)
  }
}
