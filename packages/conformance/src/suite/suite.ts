/**
 * The conformance suite: a store that passes it upholds the guarantees. Works with any runner that can
 * register a test.
 */
import type { Store } from 'jobmill/store'
import { aDirectDispatch, aJob } from '../factories.ts'
import { type Bench, onBench } from './bench.ts'
import { alertCases } from './operate/alerts.ts'
import { fairCases } from './groups/fair.ts'
import { limitedCases } from './groups/limited.ts'
import { findCases } from './inspect/find.ts'
import { operateCases } from './operate/operate.ts'
import type { Case } from './case.ts'
import type { Group, OptionalGroup } from './groups.ts'
import type { ConformanceSubject } from './subject.ts'
import { deletedScheduleCases } from './schedules/deleted-schedules.ts'
import { debounceCases } from './enqueue/debounce.ts'
import { dedupeCases } from './enqueue/dedupe.ts'
import { enqueueCases } from './enqueue/enqueue.ts'
import { finishCases } from './finish/finish.ts'
import { forgetCases } from './finish/forget.ts'
import { directDispatchCases } from './enqueue/direct-dispatch.ts'
import { dispatchedCases } from './enqueue/dispatched.ts'
import { instanceCases } from './instances/instances.ts'
import { lifecycleCases } from './lifecycle.ts'
import { listCases } from './inspect/list.ts'
import { notCrashedCases } from './instances/not-crashed.ts'
import { orderKeyCases } from './enqueue/order-key.ts'
import { runningCases } from './finish/running.ts'
import { limitOverrideCases } from './limits/limit-overrides.ts'
import { overrideCases } from './queues/overrides.ts'
import { queueCases } from './queues/queues.ts'
import { readCases } from './inspect/read.ts'
import { reapCases } from './instances/reap.ts'
import { replaceCases } from './enqueue/replace.ts'
import { retainCases } from './operate/retain.ts'
import { retryPayloadCases } from './operate/retry-payload.ts'
import { claimCases } from './claim/claim.ts'
import { fenceCases } from './finish/fence.ts'
import { raceCases } from './claim/races.ts'
import { transactionCases } from './enqueue/transactions.ts'
import { notificationCases } from './notifier/notifications.ts'
import { inspectCases } from './inspect/inspect.ts'
import { metricCases } from './metrics/metrics.ts'
import { leadershipCases } from './instances/leadership.ts'
import { limitCases } from './limits/limits.ts'
import { limitKeyCases } from './limits/limit-keys.ts'
import { permitCases } from './limits/permits.ts'
import { queueLimitDeclarationCases } from './limits/queue-limit-declarations.ts'
import { queueLimitCases } from './limits/queue-limits.ts'
import { requestCases } from './instances/requests.ts'
import { retainRecordCases } from './operate/retain-records.ts'
import { scheduleCases } from './schedules/schedules.ts'
import { slotCases } from './instances/slots.ts'
import { versionCases } from './inspect/versions.ts'
import { childCases } from './steps/children.ts'
import { parkedCases } from './steps/parked.ts'
import { followCancelCases } from './steps/follow-cancels.ts'
import { rewindCases } from './steps/rewind.ts'
import { stepVersionCases } from './steps/versions.ts'
import { stepCases } from './steps/steps.ts'
import { waitCases } from './steps/waits.ts'
import { viewCases } from './operate/views.ts'
import { untilStartedCases } from './enqueue/until-started.ts'
import { dispatchedWindowCases, windowCases } from './enqueue/windows.ts'
import { tickCases } from './schedules/ticks.ts'
import { timelineCases } from './metrics/timeline.ts'

/** A case that also uses the part `overrides`. */
const withOverrides = (one: Case): Case => ({ ...one, needs: [...(one.needs ?? []), 'overrides'] })

/** All cases, grouped by the part of the contract that they test. A store without a part skips its group. */
export const conformanceGroups: Readonly<Record<Group, readonly Case[]>> = {
  jobs: [
    ...lifecycleCases,
    ...enqueueCases,
    ...dedupeCases,
    ...windowCases,
    ...untilStartedCases,
    ...debounceCases,
    ...replaceCases,
    ...orderKeyCases,
    ...claimCases,
    ...finishCases,
    ...fenceCases,
    ...forgetCases,
    ...runningCases,
    ...operateCases,
    ...retryPayloadCases,
    ...retainCases,
    ...retainRecordCases,
    ...readCases,
    ...findCases,
    ...listCases,
    ...raceCases,
  ],
  queues: queueCases,
  instances: [
    ...instanceCases,
    ...reapCases,
    ...notCrashedCases,
    ...leadershipCases,
    ...slotCases,
    ...requestCases,
  ],
  overrides: overrideCases,
  inspect: [...inspectCases, ...versionCases],
  directDispatch: [...directDispatchCases, ...dispatchedCases, ...dispatchedWindowCases],
  transactions: transactionCases,
  schedules: [...scheduleCases, ...deletedScheduleCases.map(withOverrides), ...tickCases],
  groups: [...fairCases, ...limitedCases],
  limits: [
    ...limitOverrideCases.map(withOverrides),
    ...limitCases,
    ...limitKeyCases,
    ...permitCases,
    ...queueLimitDeclarationCases,
    ...queueLimitCases,
  ],
  alerts: alertCases,
  views: viewCases,
  metrics: [...metricCases, ...timelineCases],
  steps: [
    ...stepCases,
    ...waitCases,
    ...parkedCases,
    ...childCases,
    ...rewindCases,
    ...stepVersionCases,
    ...followCancelCases,
  ],
  notifier: notificationCases,
}

export const conformanceCases: readonly Case[] = Object.values(conformanceGroups).flat()

/** Registers one test per case: with the `test` of vitest, of node:test, or of any other runner. */
export function storeConformance(
  subject: ConformanceSubject,
  test: (name: string, run: () => Promise<void>) => unknown,
): void {
  const gaps = new Set(subject.knownGaps)
  const absent = new Set<Group>(subject.without)
  const left = new Map<Group, number>()
  for (const [group, cases] of Object.entries(conformanceGroups) as [Group, readonly Case[]][]) {
    for (const { name, run, needs = [] } of cases) {
      const missing = [group, ...needs].find((one) => absent.has(one))
      if (missing !== undefined) {
        left.set(missing, (left.get(missing) ?? 0) + 1)
        continue
      }
      const isGap = gaps.delete(name)
      test(isGap ? `known gap: ${name}` : name, () => {
        const pass = onBench(subject, run)
        return isGap ? mustFail(pass, name) : pass
      })
    }
  }
  for (const group of subject.without ?? [])
    test(`absent: ${group} (${left.get(group) ?? 0} cases are not run)`, () =>
      onBench(subject, (bench) => mustBeAbsent(group, subject, bench)))
  for (const name of gaps) {
    test(`known gap: ${name}`, () =>
      Promise.reject(new Error(`no active case is named "${name}": remove it from knownGaps`)))
  }
}

async function mustBeAbsent(
  group: OptionalGroup,
  { transaction }: ConformanceSubject,
  t: Bench,
): Promise<void> {
  const isThere =
    group === 'transactions'
      ? transaction !== undefined
      : group === 'directDispatch'
        ? (await t.store.enqueue([aJob()], { directDispatch: aDirectDispatch(await t.worker()) }))[0]
            ?.lease !== undefined
        : (t.store as Store)[group] !== undefined
  if (isThere) throw new Error(`the store has ${group}. Remove it from the option "without"`)
}

async function mustFail(pass: Promise<void>, name: string): Promise<void> {
  const failed = await pass.then(
    () => false,
    () => true,
  )
  if (!failed) throw new Error(`"${name}" passes now: remove it from knownGaps`)
}
