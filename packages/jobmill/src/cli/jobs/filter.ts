/** The filters of jobs as options: the same for looking and for acting. */
import { checkOneOf } from '../../job/numbers.ts'
import { JOB_STATES } from '../../job/state.ts'
import { systemPlatform } from '../../platform/platform.ts'
import type { JobFilter } from '../../store/job-list.ts'
import { checkPayloadAt, checkSought, readPayloadAt } from '../../store/payload-at.ts'
import type { Given, Option } from '../command.ts'
import { momentOf, said } from '../typed-values.ts'

export const FILTERS = {
  queue: { type: 'string', takes: 'NAME', says: 'of this queue' },
  kind: { type: 'string', takes: 'NAME', says: 'of this kind' },
  state: { type: 'string', takes: 'STATE', says: `in this state: ${JOB_STATES.join(', ')}` },
  tag: {
    type: 'string',
    takes: 'TEXT',
    says: 'with this tag; given more than once: with all of them',
    multiple: true,
  },
  from: {
    type: 'string',
    takes: 'WHEN',
    says: 'enqueued at or after: 2027-01-31T09:00:00Z, or 2h for two hours ago',
  },
  before: { type: 'string', takes: 'WHEN', says: 'enqueued before: an instant, or how long ago' },
  text: { type: 'string', takes: 'TEXT', says: 'whose payload, as JSON, contains this; case matters' },
  payload: {
    type: 'string',
    takes: 'PATH:VALUE',
    says: 'whose payload has this: user.id:42, items.0.sku:a-1; given more than once: all of them',
    multiple: true,
  },
  error: {
    type: 'string',
    takes: 'TEXT',
    says: 'whose last error contains this; case matters; never done ones',
  },
} as const satisfies Readonly<Record<string, Option>>

export function filterOf(given: Given): JobFilter {
  const now = systemPlatform.now()
  const state = given.text('state')
  const tags = given.texts('tag')
  const values = given.texts('payload').map((text) => readPayloadAt(text, '--payload'))
  const errorText = given.text('error')
  return said({
    queue: given.text('queue'),
    kind: given.text('kind'),
    state: state === undefined ? undefined : checkOneOf(state, '--state', JOB_STATES),
    tags: tags.length === 0 ? undefined : tags,
    enqueuedFrom: momentOf(given, 'from', now),
    enqueuedBefore: momentOf(given, 'before', now),
    payloadText: given.text('text'),
    payloadAt: values.length === 0 ? undefined : checkPayloadAt(values, '--payload'),
    errorText: errorText === undefined ? undefined : checkSought(errorText, '--error'),
  })
}
