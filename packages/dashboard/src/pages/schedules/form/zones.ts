/** The time zones that this browser knows, with the local one and UTC first. */
import type { Choice } from '../../../kit/forms/combobox.tsx'

let known: readonly Choice[] | undefined

export function zones(): readonly Choice[] {
  known ??= found()
  return known
}

function found(): readonly Choice[] {
  const here = Intl.DateTimeFormat().resolvedOptions().timeZone
  const names = new Set(['UTC', here, ...Intl.supportedValuesOf('timeZone')])
  return [...names].map((value) => ({
    value,
    note: value === here ? 'local' : undefined,
  }))
}
