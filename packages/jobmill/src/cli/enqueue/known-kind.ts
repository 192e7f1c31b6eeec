/** Refuses a kind that the config does not define: if it is a typo, no process would ever run the job. */
import { quote } from '../../job/errors.ts'
import { nearest } from '../../job/options/known-keys.ts'
import type { MillOptions } from '../../runtime/options/options.ts'
import type { ParsedArguments, Option } from '../program/command.ts'
import { invalid } from '../program/invalid.ts'

const SHOWN_KINDS = 10

export const UNKNOWN_KIND: Option = {
  says: 'allow a kind that the config does not define, because another process runs it',
}

/** A config without jobs belongs to a process that only enqueues, so every kind is accepted. */
export function checkKind(
  kind: string,
  field: string,
  {
    parsed,
    options: { jobs = [] },
  }: { readonly parsed: ParsedArguments; readonly options: Pick<MillOptions, 'jobs'> },
): void {
  const kinds = jobs.map((job) => job.kind)
  if (kinds.length === 0 || kinds.includes(kind) || parsed.has('unknown-kind')) return
  const near = nearest(kind, kinds)
  const hint = near === undefined ? `Use one of ${listed(kinds)}.` : `Did you mean ${quote(near)}?`
  const fix = `${hint} Pass --unknown-kind if another process runs it`
  throw invalid(field, 'is not defined in this config', fix, kind)
}

function listed(kinds: readonly string[]): string {
  return `${kinds.slice(0, SHOWN_KINDS).join(', ')}${kinds.length > SHOWN_KINDS ? ', …' : ''}`
}
