/** `mill.alerts`: alert rules at run time, from any process. */
import {
  ALERT_KEYS,
  type AlertChange,
  type AlertOptions,
  changedAlert,
  newAlert,
  secretHint,
  shownUrl,
} from '../../job/alert/alert-options.ts'
import type { CheckName } from '../../job/alert/check-names.ts'
import { type AlertCause, type AlertRule, NO_STATE } from '../../job/alert/rule.ts'
import { BOUNDS } from '../../job/defaults.ts'
import { invalidValue, JobmillError } from '../../job/errors.ts'
import type { EnqueueItem } from '../../job/enqueue/handle.ts'
import { checkName, checkSoughtName } from '../../job/names.ts'
import { checkObjectKeys, didYouMean } from '../../job/options/known-keys.ts'
import type { FullStore } from '../../store/store.ts'
import type { AlertRecord, AlertWrite } from '../../store/types/alert.ts'
import type { StoreAccess } from '../store-access.ts'
import type { AlertPayload } from './alert-job.ts'
import { alertItem } from './alert-item.ts'

/** A rule without its secrets. */
export interface AlertView {
  readonly name: string
  /** Null: every check. */
  readonly checks: readonly CheckName[] | null
  readonly queue: string | null
  readonly kind: string | null
  /** Without user name, password and query. */
  readonly url: string
  /** The end of each secret, newest first. */
  readonly secretHints: readonly string[]
  readonly forMs: number
  readonly coolDownMs: number
  readonly recovery: boolean
  readonly paused: boolean
  readonly inCode: boolean
  /** Its current problems, sent or not. */
  readonly problems: readonly AlertProblem[]
  readonly lastSentAt: number | null
}

type AlertProblem = Omit<AlertCause, 'endedAt' | 'sentLevel'>

export interface Alerts {
  /** Sorted by name. Never contains a secret. */
  list(): Promise<AlertView[]>
  /**
   * Creates a rule, or changes the given options of one. Only `paused` of a rule from code can be changed,
   * and a deploy does not undo that.
   */
  set(name: string, change: AlertOptions | AlertChange): Promise<AlertView>
  /** False when there is none. A rule that code defines is created again at the next start of a process. */
  delete(name: string): Promise<boolean>
  /** Enqueues a message of type `jobmill.test`, and returns the id of its job. */
  test(name: string): Promise<{ readonly job: string }>
}

export interface AlertTools extends Pick<StoreAccess, 'opened'> {
  readonly enqueue: (
    items: readonly EnqueueItem<AlertPayload>[],
  ) => Promise<readonly { readonly id: string }[]>
  readonly label: () => string | null
  readonly newId: () => string
  /** A rule changed, so the duty should make a pass soon. */
  readonly changed: () => void
}

export function alertsApi({ opened, enqueue, label, newId, changed }: AlertTools): Alerts {
  async function required(name: string): Promise<AlertRecord> {
    const records = await (await opened()).alerts.list()
    const record = records.find((one) => one.name === name)
    if (record !== undefined) return record
    const names = records.map((one) => one.name)
    const fix = didYouMean(name, names, { code: 'alert.names' } as const)
    throw invalidValue('name', name, 'no alert rule has this name', fix, 'ALERT_UNKNOWN')
  }

  return {
    list: async () => (await (await opened()).alerts.list()).map(alertView),
    async set(name, change) {
      checkName(name, 'name')
      checkObjectKeys(change, 'alert', [...ALERT_KEYS, 'paused'])
      const { alerts } = await opened()
      const record = await rewrite(alerts, name, (before, count) => {
        if (before !== undefined) return changedAlert(before.rule, change, 'alert')
        if (count >= BOUNDS.alerts) throw tooMany()
        return newRule(change)
      })
      changed()
      return alertView(record)
    },
    delete: async (name) => (await opened()).alerts.delete(checkSoughtName(name, 'name')),
    async test(name) {
      await required(checkSoughtName(name, 'name'))
      const now = await (await opened()).now()
      const what = { what: null, name: null }
      const text = `this is a test of the alert rule ${name}`
      const item = alertItem(
        name,
        {
          id: `msg_${newId().replaceAll('-', '')}`,
          type: 'test',
          check: 'test',
          level: 'warning',
          about: what,
          message: text,
          fix: 'No action is needed',
          since: now,
          at: now,
        },
        label(),
      )
      const [job] = await enqueue([item])
      // The process that leads the duty runs the job. It may not know yet that there is a rule.
      changed()
      return { job: job?.id ?? '' }
    },
  }
}

/** A new rule may be created paused. */
function newRule(change: AlertOptions | AlertChange): AlertRule {
  const { paused, ...options } = change as AlertChange
  const rule = newAlert(options as AlertOptions, 'alert', false)
  return paused === undefined ? rule : changedAlert(rule, { paused }, 'alert')
}

/** Other processes write the state of a rule at most every few seconds, so a few attempts are enough. */
const MOST_ATTEMPTS = 20

/**
 * Reads, changes and writes a rule, and repeats that if another process wrote it in between. Keeps its state.
 */
async function rewrite(
  alerts: FullStore['alerts'],
  name: string,
  change: (before: AlertRecord | undefined, count: number) => AlertRule,
): Promise<AlertRecord> {
  for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt += 1) {
    const records = await alerts.list()
    const before = records.find((one) => one.name === name)
    const rule = change(before, records.length)
    const write: AlertWrite = {
      name,
      revision: before?.revision ?? null,
      rule,
      state: before?.state ?? NO_STATE,
    }
    const revision = await alerts.put(write)
    if (revision !== null) return { ...write, revision }
  }
  throw new JobmillError('STORE_BUSY', `other processes keep changing the alert rule`, {
    field: 'name',
    fix: 'Retry the call',
  })
}

export interface DeclaredAlert {
  readonly name: string
  readonly rule: AlertRule
}

/**
 * Writes the rules from code. A rule that an operator paused remains paused, and every rule keeps its state.
 */
export async function declareAlerts(
  alerts: FullStore['alerts'],
  declared: readonly DeclaredAlert[],
): Promise<void> {
  const known = new Map((await alerts.list()).map((record) => [record.name, record]))
  for (const { name, rule } of declared) {
    const before = known.get(name)?.rule
    const wanted = { ...rule, paused: before?.paused ?? rule.paused }
    if (before === undefined || JSON.stringify(before) !== JSON.stringify(wanted))
      await rewrite(alerts, name, (now) => ({ ...rule, paused: now?.rule.paused ?? rule.paused }))
  }
}

function alertView({ name, rule, state }: AlertRecord): AlertView {
  const { url, secrets, ...shown } = rule
  const sentAts = state.causes.flatMap(({ sentAt }) => sentAt ?? [])
  return {
    name,
    ...shown,
    url: shownUrl(url),
    secretHints: secrets.map(secretHint),
    problems: state.causes.flatMap(({ endedAt, sentLevel: _, ...cause }) =>
      endedAt === null ? [cause] : [],
    ),
    lastSentAt: sentAts.length === 0 ? null : Math.max(...sentAts),
  }
}

function tooMany(): JobmillError {
  return new JobmillError('OPTION_INVALID', `there are already ${BOUNDS.alerts} alert rules, the maximum`, {
    field: 'name',
    fix: 'Delete one first, or name several checks in one rule',
  })
}
