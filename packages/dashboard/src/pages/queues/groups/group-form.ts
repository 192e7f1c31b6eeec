/** The limits of groups in a form: of all groups of a queue, or of one group. */
import type { Body, Group, Queue } from '../../../api/types.ts'
import { durationError, durationText, parseDuration } from '../../../kit/forms/duration.ts'

/** Empty: no maximum in the form of a queue, the setting of the queue in the form of a group. */
export interface LimitsDraft {
  readonly groupConcurrency: string
  readonly groupRate: string
  readonly groupRatePerMs: string
}

export interface GroupDraft extends LimitsDraft {
  readonly weight: string
}

type Limits = Pick<Queue, keyof LimitsDraft>
type Wrong<Draft> = Readonly<Partial<Record<keyof Draft, string>>>

export const numberText = (value: number | null): string => (value === null ? '' : String(value))

export const limitsDraftOf = ({ groupConcurrency, groupRate, groupRatePerMs }: Limits): LimitsDraft => ({
  groupConcurrency: numberText(groupConcurrency),
  groupRate: numberText(groupRate),
  groupRatePerMs: groupRatePerMs === null ? '' : durationText(groupRatePerMs),
})

/** What an operator changed for the group. */
export function groupDraftOf({ overrides }: Group): GroupDraft {
  const { weight = null, concurrency = null, rate = null, ratePerMs = null } = overrides ?? {}
  const limits = { groupConcurrency: concurrency, groupRate: rate, groupRatePerMs: ratePerMs }
  return { weight: numberText(weight), ...limitsDraftOf(limits) }
}

const isBlank = (text: string): boolean => text.trim() === ''

const wholeError = (text: string): string | undefined =>
  /^\d*$/.test(text.trim()) ? undefined : 'Enter a whole number, or leave blank.'

/** The problems of the text. The server checks the bounds. */
export function limitsWrongIn(draft: LimitsDraft): Record<string, string | undefined> {
  const { groupConcurrency, groupRate, groupRatePerMs: per } = draft
  return {
    groupConcurrency: wholeError(groupConcurrency),
    groupRate: wholeError(groupRate),
    groupRatePerMs: isBlank(per)
      ? undefined
      : isBlank(groupRate)
        ? 'Enter a rate too, or leave blank.'
        : durationError(per),
  }
}

export function groupWrongIn(draft: GroupDraft): Wrong<GroupDraft> {
  const isNumber = isBlank(draft.weight) || Number.isFinite(Number(draft.weight))
  const found = {
    ...limitsWrongIn(draft),
    weight: isNumber ? undefined : 'Enter a number such as 2 or 0.5, or leave blank.',
  }
  return Object.fromEntries(Object.entries(found).filter(([, error]) => error !== undefined))
}

const numberOf = (text: string): number | null => (isBlank(text) ? null : Number(text))

type LimitsChange = Pick<Body<'groups.change'>, 'concurrency' | 'rate' | 'per'>

/** Only what changed. A rate and its period are sent together. */
export function limitsChangeOf<Draft extends LimitsDraft>(before: Draft, draft: Draft): LimitsChange {
  const differs = (key: keyof LimitsDraft): boolean => before[key].trim() !== draft[key].trim()
  const per = parseDuration(draft.groupRatePerMs)
  return {
    ...(differs('groupConcurrency') && { concurrency: numberOf(draft.groupConcurrency) }),
    ...((differs('groupRate') || differs('groupRatePerMs')) && {
      rate: numberOf(draft.groupRate),
      ...(per !== null && { per }),
    }),
  }
}

/** The body of PATCH /api/queues/{name}/groups/{group}. The form must be valid. */
export const groupChangeOf = (before: GroupDraft, draft: GroupDraft): Body<'groups.change'> => ({
  ...(before.weight.trim() !== draft.weight.trim() && { weight: numberOf(draft.weight) }),
  ...limitsChangeOf(before, draft),
})

const FIELDS: Readonly<Record<string, keyof LimitsDraft>> = {
  concurrency: 'groupConcurrency',
  rate: 'groupRate',
  per: 'groupRatePerMs',
}

/** The form field that a problem of the server is about, such as `group.rate`. */
export const limitsFieldOf = (path = ''): keyof LimitsDraft | undefined =>
  FIELDS[path.split('.').at(-1) ?? '']

export const groupFieldOf = (path = ''): keyof GroupDraft | undefined =>
  path.endsWith('.weight') ? 'weight' : limitsFieldOf(path)
