/** The address that opens a new alert rule for problems like one that the diagnostics found. */
import type { CheckName, Diagnostic } from '../../../api/types.ts'
import { type Draft, NEW } from './alert-form.ts'

export function alertAddress({ check, about }: Pick<Diagnostic, 'check' | 'about'>): string {
  const search = new URLSearchParams({ tab: 'alerts', rule: check })
  if ((about.what === 'queue' || about.what === 'kind') && about.name !== null)
    search.set(about.what, about.name)
  return `/system?${search.toString()}`
}

/** The draft that such an address asks for. Null for any other address. */
export function draftIn(search: URLSearchParams): Draft | null {
  const check = search.get('rule')
  if (check === null) return null
  const [queue, kind] = [search.get('queue') ?? '', search.get('kind') ?? '']
  const name = [check, queue || kind].filter((part) => part !== '').join('-')
  return { ...NEW, name, checks: [check as CheckName], queue, kind }
}

/** The address without the request for a new rule. */
export function withoutDraft(search: URLSearchParams): URLSearchParams {
  const next = new URLSearchParams(search)
  for (const key of ['rule', 'queue', 'kind']) next.delete(key)
  return next
}
