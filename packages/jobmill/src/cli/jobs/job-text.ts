/** Formats all details of one job as text. */
import type { AttemptView, JobView } from '../../runtime/operate/job-view.ts'
import type { Why } from '../../runtime/diagnose/why.ts'
import type { PolicySource, PolicyView } from '../../runtime/operate/policy.ts'
import { versionText } from '../../job/kind/kind-name.ts'
import { safeLine, safeText } from '../../job/text/safe-text.ts'
import { listing } from '../output/table.ts'
import type { Terminal } from '../output/terminal.ts'
import { countText, fromNow, lasting, localTime, moment, optionText } from '../output/wording.ts'
import { STATE_STYLE } from './rows.ts'

type Paint = Pick<Terminal, 'paint'>

export interface JobDetails {
  readonly job: JobView
  /** Oldest first. */
  readonly history: readonly AttemptView[]
  /** Null when the job no longer exists. */
  readonly why: Why | null
  readonly policy: PolicyView
  readonly now: number
}

export function jobText({ job, history, why, policy, now }: JobDetails, terminal: Paint): string {
  const { state, attempt, crashes } = job
  const { maxAttempts, timeout, backoff } = policy
  const at = (instant: number | null): string | null => (instant === null ? null : moment(instant, now))
  const facts = listing(
    [
      ['id', job.id],
      ['kind', `${job.kind}${versionText(job)}`],
      ['queue', job.queue],
      [
        'state',
        terminal.paint(STATE_STYLE[state], job.waitsForOrder ? `${state}, blocked by order key` : state),
      ],
      ['why', whyText(why)],
      ['cancel', job.cancelReason === null ? null : `requested: ${safeLine(job.cancelReason)}`],
      [
        'attempt',
        `${attempt} of ${maxAttempts.attempts}${FROM[maxAttempts.from]}${crashes === 0 ? '' : `, crashed ${countText(crashes, 'time')}`}`,
      ],
      ['priority', String(job.priority)],
      ['enqueued', at(job.enqueuedAt)],
      ['due', at(job.dueAt)],
      ['started', at(job.startedAt)],
      ['ended', at(job.endedAt)],
      ['instance', job.instance === null ? null : safeLine(job.instance)],
      ['timeout', timeoutText(timeout)],
      ['backoff', backoffText(backoff)],
      ['tags', job.tags.length === 0 ? null : job.tags.map(safeLine).join(', ')],
      ['dedupe key', job.dedupeKey === null ? null : safeLine(job.dedupeKey)],
      ['order key', job.orderKey === null ? null : safeLine(job.orderKey)],
      ['group', job.group === null ? null : safeLine(job.group)],
      ['metadata', jsonText(job.metadata ?? undefined)],
      ['payload', jsonText(job.payload)],
      ['progress', jsonText(job.progress)],
      ['log', job.log.length === 0 ? null : logText(job.log, job.startedAt)],
      ['result', jsonText(job.result)],
      ['error', job.error === null ? null : safeText(job.error)],
    ],
    terminal,
  )
  return history.length === 0 ? facts : `${facts}\n\n${attemptsText(history, now, terminal)}`
}

const FROM: Readonly<Record<PolicySource, string>> = {
  job: ' (from the job)',
  kind: ' (from the kind)',
  queue: ' (from the queue)',
  payload: ' (from the payload)',
  default: ' (default)',
  unknown: '',
}

const UNKNOWN = 'set by the kind, which this process does not define'

function timeoutText({ ms, from }: PolicyView['timeout']): string {
  if (from === 'unknown') return UNKNOWN
  if (from === 'payload') return 'set in the payload'
  return `${ms === null ? 'none' : optionText(ms)}${FROM[from]}`
}

function backoffText({ type, baseMs, maxMs, isRandom, from }: PolicyView['backoff']): string {
  const delays = {
    off: 'off, retries immediately',
    function: 'computed by a function',
    unknown: UNKNOWN,
    fixed: optionText(baseMs),
    exponential: `${optionText(baseMs)}, doubled up to ${optionText(maxMs)}`,
  }
  return `${delays[type]}${isRandom ? ', with jitter' : ''}${FROM[from]}`
}

function attemptsText(history: readonly AttemptView[], now: number, terminal: Paint): string {
  const parts = history.map(({ attempt, outcome, startedAt, endedAt, instance, version, error, log }) => {
    const ran = startedAt === null ? '' : ` after ${lasting(Math.max(0, endedAt - startedAt))}`
    const where = instance === null ? '' : ` on ${safeLine(instance)}`
    const ofVersion = version === null ? '' : ` (version ${safeLine(version)})`
    return [
      `${terminal.paint('bold', `attempt ${attempt}`)}  ${outcome}${ran}, ${localTime(endedAt)} (${fromNow(endedAt, now)})${where}${ofVersion}`,
      ...(error === null ? [] : [indented(safeText(error))]),
      ...(log.length === 0 ? [] : [indented(logText(log, startedAt))]),
    ].join('\n')
  })
  return parts.join('\n')
}

/** Shows times relative to the start of the attempt, which makes lines comparable. */
function logText(log: JobView['log'], startedAt: number | null): string {
  return log
    .map(({ at, level, message, fields }) => {
      const since = startedAt === null ? localTime(at) : `+${lasting(Math.max(0, at - startedAt))}`
      const more = fields === undefined ? '' : ` ${safeText(JSON.stringify(fields))}`
      return `${since.padEnd(8)} ${level.padEnd(5)} ${safeLine(message)}${more}`
    })
    .join('\n')
}

function jsonText(value: unknown): string | null {
  return value === undefined ? null : safeText(JSON.stringify(value, null, 2))
}

function indented(text: string): string {
  return text.replaceAll(/^/gm, '  ')
}

/** One line for each reason, or null when there is none. */
function whyText(why: Why | null): string | null {
  const reasons = why?.reasons ?? []
  return reasons.length === 0 ? null : reasons.map(({ message }) => safeLine(message)).join('\n')
}
