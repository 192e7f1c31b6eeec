/**
 * Decides what an alert rule sends: a pure function from its state and the current findings to its next
 * state, whose outbox contains the messages.
 */
import { createHash } from 'node:crypto'
import type { AlertCause, AlertMessage, AlertRule, AlertState, FoundProblem } from '../../job/alert/rule.ts'
import { BOUNDS } from '../../job/defaults.ts'

export interface Found {
  /** Most severe first. */
  readonly findings: readonly FoundProblem[]
  /** Checks that could not run. Their earlier findings still count. */
  readonly unread: ReadonlySet<string>
  readonly now: number
}

/** Expects an empty outbox: the messages in it must be enqueued before. */
export function decide(
  name: string,
  rule: AlertRule,
  { causes }: Pick<AlertState, 'causes'>,
  { findings, unread, now }: Found,
): AlertState {
  const outbox: AlertMessage[] = []
  const send = (type: AlertMessage['type'], cause: AlertCause): void => {
    const { check, level, about, message, fix, since } = cause
    const id = webhookId(name, type, cause)
    outbox.push({ id, type, check, level, about, message, fix, since, at: now })
  }
  // An operator may have changed the filter. A cause that it no longer covers has not recovered.
  const known = new Map(causes.filter((one) => matches(rule, one)).map((one) => [causeKey(one), one]))
  const holding = new Map<string, FoundProblem>()
  for (const one of findings.filter((each) => matches(rule, each)))
    if (!holding.has(causeKey(one))) holding.set(causeKey(one), one)

  const open: AlertCause[] = []
  const rest: AlertCause[] = []
  for (const [key, before] of known) {
    const finding = holding.get(key)
    holding.delete(key)
    if (finding !== undefined) {
      const cause = before.endedAt === null ? before : begun(finding, now, before)
      open.push(due(cause, finding))
    } else if (before.endedAt === null && unread.has(before.check)) open.push(before)
    else rest.push(before.endedAt === null ? ended(before) : before)
  }
  // If there are too many, a rule follows those that it already follows, and then the most severe ones.
  for (const finding of [...holding.values()].slice(0, Math.max(0, BOUNDS.alertCauses - open.length)))
    open.push(due(begun(finding, now, NEVER_SENT), finding))
  const cooling = rest.filter(({ sentAt }) => sentAt !== null && now - sentAt < rule.coolDownMs)
  return { causes: [...open, ...cooling].slice(0, BOUNDS.alertCauses), outbox }

  function due(cause: AlertCause, { level, message, fix }: FoundProblem): AlertCause {
    const isCool = cause.sentAt === null || now - cause.sentAt >= rule.coolDownMs
    // A problem that becomes worse does not wait for the end of the cool-down.
    const isWorse = cause.sentLevel !== null && RANK[level] > RANK[cause.sentLevel]
    if (!(isCool || isWorse) || now - cause.since < rule.forMs) return cause
    // The texts change with every pass, so they are stored only when they are sent.
    const sent = { ...cause, level, message, fix, sent: cause.sent + 1, sentAt: now, sentLevel: level }
    send('problem', sent)
    return sent
  }

  function ended(cause: AlertCause): AlertCause {
    if (cause.sent > 0 && rule.recovery) send('recovered', cause)
    return { ...cause, endedAt: now }
  }
}

const RANK: Readonly<Record<FoundProblem['level'], number>> = { notice: 0, warning: 1, error: 2 }

type LastSent = Pick<AlertCause, 'sentAt' | 'sentLevel'>

const NEVER_SENT: LastSent = { sentAt: null, sentLevel: null }

function begun(finding: FoundProblem, now: number, { sentAt, sentLevel }: LastSent): AlertCause {
  const { check, level, about, message, fix } = finding
  const { what, name } = about
  const text = { check, level, about: { what, name }, message, fix }
  return { ...text, since: now, endedAt: null, sent: 0, sentAt, sentLevel }
}

function matches({ checks, queue, kind }: AlertRule, { check, level, about }: FoundProblem): boolean {
  if (checks === null ? level === 'notice' : !checks.some((one) => one === check)) return false
  if (queue === null && kind === null) return true
  const { what, name } = about
  return name !== null && ((what === 'queue' && name === queue) || (what === 'kind' && name === kind))
}

/** Names have no spaces, so that no two causes share a key. */
export function causeKey({ check, about }: Pick<FoundProblem, 'check' | 'about'>): string {
  return `${check} ${about.what ?? ''} ${about.name ?? ''}`
}

/** The same message gets the same id in every pass and in every process. */
function webhookId(rule: string, type: string, cause: AlertCause): string {
  const text = [rule, causeKey(cause), cause.since, type, cause.sent].join('\n')
  return `msg_${createHash('sha256').update(text).digest('hex').slice(0, 32)}`
}
