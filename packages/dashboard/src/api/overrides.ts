/** Options that an operator set. */
import { useAllOverrides } from './reads.ts'
import type { Override } from './types.ts'

/** The overrides of one queue, limit or schedule, by option. */
export function useOverrides(what: Override['what'], name: string | null): ReadonlyMap<string, Override> {
  const all = useAllOverrides().data?.overrides ?? []
  return new Map(all.filter((one) => one.what === what && one.name === name).map((one) => [one.option, one]))
}
