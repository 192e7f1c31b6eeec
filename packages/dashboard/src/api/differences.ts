/** Where what counts is not what code says. */
import { useOverview } from './reads.ts'
import type { Difference } from './types/mill.ts'

/** Of one queue, limit or schedule, by field. */
export function useDifferences(
  what: Difference['what'],
  name: string | null,
): ReadonlyMap<string, Difference> {
  const all = useOverview().data?.differences ?? []
  return new Map(all.filter((one) => one.what === what && one.name === name).map((one) => [one.field, one]))
}
