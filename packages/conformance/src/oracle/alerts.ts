/** Alert rules: the latest write of each, with its revision. */
import { isDeepStrictEqual } from 'node:util'
import type { AlertRecord, AlertWrite } from 'jobmill/store'
import { byName } from './inspect/read.ts'
import type { OracleState } from './state.ts'

export function putAlert(
  state: OracleState,
  { name, revision, rule, state: known }: AlertWrite,
): number | null {
  const before = state.alerts.get(name)
  const next = revision === null ? (before?.revision ?? state.now) : revision + 1
  // A repeated call reports that the work is done.
  if (before !== undefined && isDeepStrictEqual(before, { name, revision: next, rule, state: known }))
    return next
  if ((before?.revision ?? null) !== revision) return null
  state.alerts.set(name, structuredClone({ name, revision: next, rule, state: known }))
  return next
}

export function deleteAlert(state: OracleState, name: string): boolean {
  return state.alerts.delete(name)
}

export function readAlerts(state: OracleState): AlertRecord[] {
  return byName(state.alerts).map(([, record]) => structuredClone(record))
}
