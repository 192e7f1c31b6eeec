/** Ids that a program passes. */
import { cleanId } from '../clean/ids.ts'
import { invalid } from '../invalid.ts'

/** Accepts any string. The caller treats a string that is not an id as an unknown one. */
export function idText(given: unknown, field: string): string {
  if (typeof given === 'string') return given
  throw invalid(field, given, 'must be a string', `Pass the id of a ${field}`)
}

export function idOf(given: unknown, field: string, fix = `Pass the id of a ${field}`): string {
  const id = typeof given === 'string' ? cleanId(given) : null
  if (id !== null) return id
  throw invalid(field, given, 'must be a UUID', fix)
}
