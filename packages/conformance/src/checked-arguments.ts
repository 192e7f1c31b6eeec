/**
 * The rules for arguments on which stores may rely. A mill checks the input of its users once, before it
 * calls a store. The oracle is wrapped in these checks, so every simulated history and every model test fails
 * if the runtime passes arguments that no store has to expect.
 */
import {
  BOUNDS,
  checkJsonText,
  checkKey,
  checkName,
  checkOneOf,
  checkWhole,
  DEFAULTS,
  type FullStore,
  type DirectDispatchOffer,
  isEnded,
  JOB_STATES,
  JobmillError,
  OUTCOMES,
  parseKind,
  storableText,
} from 'jobmill/store'
import { type Checks, COUNT, DURATION, ids, MOST_KEY_CHARS } from './argument-rules.ts'
import { STEP_CHECKS } from './checked-steps.ts'

const PER_PASS = { least: 1, most: 10_000 }
const NONE_TO_PAGE = { least: 0, most: BOUNDS.pageLimit }
const TO = ['done', 'scheduled', 'ready', 'dead', 'cancelled', 'parked'] as const
/** The state of a rule: every cause with its texts, and a message for each. */
const ALERT_BYTES = 16 * 1024 * 1024

export function withCheckedArguments<Tx>(store: FullStore<Tx>): FullStore<Tx> {
  return {
    ...checked<FullStore<Tx>>(store, {
      enqueue: (_jobs, options) => options?.directDispatch && rooms(options.directDispatch),
      claim(request) {
        rooms(request)
        checkWhole(request.limit, 'limit', { least: 1, most: BOUNDS.claimLimit })
        checkOneOf(request.quarantined, 'quarantined', ['skip', 'only'])
      },
      finish: (items) => items.forEach(finishIsValid),
      progress(items) {
        for (const { id, token, value, log } of items) {
          ids([id])
          checkWhole(token, 'token', COUNT)
          if (value !== undefined) checkJsonText(value, 'value', DEFAULTS.payloadLimitBytes)
          if (log !== undefined) storable(log, 'log', DEFAULTS.logLimitChars)
          else if (value === undefined)
            throw new JobmillError('OPTION_INVALID', 'an item has neither value nor log', { field: 'items' })
        }
      },
      cancel(jobs, reason) {
        ids(jobs)
        storable(reason, 'reason')
      },
      retry(jobs, payloads) {
        ids(jobs)
        if (payloads === undefined) return
        checkWhole(payloads.length, 'payloads.length', { least: jobs.length, most: jobs.length })
        checkWhole(new Set(jobs).size, 'unique ids', { least: jobs.length, most: jobs.length })
        for (const { payload, endedAt } of payloads) {
          checkJsonText(payload, 'payload', DEFAULTS.payloadLimitBytes)
          checkWhole(endedAt, 'endedAt', COUNT)
        }
      },
      runNow: ids,
      delete: ids,
      get: ids,
      results: ids,
      history: (id) => ids([id]),
      stage: perPass,
      fold: perPass,
      retain({ limit, ticksMs, eventsMs, metricsMs }) {
        perPass(limit)
        for (const ms of [ticksMs, eventsMs, ...metricsMs]) checkWhole(ms, 'ms', DURATION)
      },
      list({ state }, { limit }) {
        if (state !== undefined) checkOneOf(state, 'state', JOB_STATES)
        checkWhole(limit, 'limit', { least: 1, most: BOUNDS.pageLimit })
      },
    }),
    queues: checked(store.queues, {
      declare: (queues) => queues.forEach(({ name }) => checkName(name, 'name')),
      change: (name, _patch, by) => byAndName(name, by),
    }),
    instances: checked(store.instances, {
      register({ id, label, version, queues, kinds, onDead, onCancelled = [], capacity, leaseMs }) {
        ids([id])
        checkWhole(capacity, 'capacity', BOUNDS.workers)
        checkWhole(leaseMs, 'leaseMs', DURATION)
        for (const text of [label, version]) if (text !== null) storable(text, 'label')
        for (const name of [...queues, ...kinds]) checkName(parseKind(name).kind, 'name')
        for (const kind of onDead) checkOneOf(kind, 'onDead', kinds)
        for (const kind of onCancelled) checkOneOf(kind, 'onCancelled', kinds)
      },
      renew({ instance, leaseMs, renewEveryMs, duties }) {
        ids([instance])
        checkWhole(leaseMs, 'leaseMs', DURATION)
        checkWhole(renewEveryMs, 'renewEveryMs', DURATION)
        for (const { name, succeededAgoMs, failures } of duties) {
          checkName(name, 'duty')
          checkWhole(succeededAgoMs ?? 0, 'succeededAgoMs', DURATION)
          checkWhole(failures, 'failures', COUNT)
        }
      },
      deregister: (instance) => ids([instance]),
      request(instance, request, by) {
        ids([instance])
        if (request !== null) checkOneOf(request, 'request', ['quiet', 'stop'])
        checkKey(by, 'by')
      },
      held: (instance) => ids([instance]),
      reap({ crashesUntilDead, limit }) {
        perPass(crashesUntilDead)
        perPass(limit)
      },
      assign(slots) {
        for (const { instance, queue, workers } of slots) {
          ids([instance])
          checkName(queue, 'queue')
          checkWhole(workers ?? 0, 'workers', BOUNDS.workers)
        }
      },
    }),
    inspect: checked(store.inspect, {
      holders(keys) {
        checkWhole(keys.length, 'keys.length', NONE_TO_PAGE)
        keys.forEach((key) => checkKey(key, 'key', MOST_KEY_CHARS))
      },
      failures(jobs) {
        checkWhole(jobs.length, 'ids.length', NONE_TO_PAGE)
        ids(jobs)
      },
      position: (id) => ids([id]),
      blocker: (id) => ids([id]),
      runs(jobs, endedFrom) {
        checkWhole(jobs.length, 'ids.length', NONE_TO_PAGE)
        checkWhole(endedFrom, 'endedFrom', COUNT)
        ids(jobs)
      },
    }),
    schedules: checked(store.schedules, {
      declare: (schedules) => schedules.forEach(({ name }) => checkName(name, 'name')),
      create: (name, _definition, by) => byAndName(name, by),
      change: (name, _patch, by) => byAndName(name, by),
      tick(ticks) {
        for (const { schedule, revision, missed, from, nextAt, fires } of ticks) {
          checkName(schedule, 'schedule')
          checkWhole(revision, 'revision', COUNT)
          checkWhole(missed, 'missed', COUNT)
          for (const at of [from ?? 0, nextAt ?? 0, ...fires.map((fire) => fire.at)])
            checkWhole(at, 'at', { least: 0, most: BOUNDS.lastInstantAt })
        }
      },
      failed: (_name, error) => error !== null && storable(error, 'error'),
      ticks: (_name, limit) => perPass(limit),
    }),
    limits: checked(store.limits, {
      declare: (limits, queues = []) => [...limits, ...queues].forEach(({ name }) => checkName(name, 'name')),
      create: (name, _settings, by) => byAndName(name, by),
      change: (name, _settings, by) => byAndName(name, by),
      acquire(items) {
        for (const { limit, holder, instance, amount, waitUpToMs, token } of items) {
          checkName(limit, 'limit')
          ids([holder, instance])
          checkWhole(amount, 'amount', BOUNDS.limit)
          checkWhole(waitUpToMs, 'waitUpToMs', DURATION)
          checkWhole(token ?? 0, 'token', COUNT)
        }
      },
      release: (items) => ids(items.map(({ holder }) => holder)),
      drain(name, forMs) {
        checkName(name, 'limit')
        checkWhole(forMs, 'forMs', DURATION)
      },
    }),
    alerts: checked(store.alerts, {
      put({ name, revision, rule, state }) {
        checkName(name, 'name')
        checkWhole(revision ?? 0, 'revision', COUNT)
        for (const json of [rule, state]) checkJsonText(JSON.stringify(json), 'alert', ALERT_BYTES)
        checkWhole(state.causes.length, 'causes', { least: 0, most: BOUNDS.alertCauses })
      },
    }),
    views: checked(store.views, {
      add({ name, search, by }) {
        checkKey(name, 'name', BOUNDS.viewNameChars)
        storable(search, 'search', BOUNDS.viewChars)
        checkKey(by, 'by')
      },
    }),
    metrics: checked(store.metrics, {
      rollUp: perPass,
      record({ source, seq, deltas, own, events }) {
        ids([source])
        checkWhole(seq, 'seq', COUNT)
        for (const { scope } of [...deltas, ...own]) checkKey(scope, 'scope')
        for (const { agoMs } of [...deltas, ...own, ...events]) checkWhole(agoMs, 'agoMs', DURATION)
        for (const { type, job, data } of events) {
          storable(type, 'type')
          if (job !== null) ids([job])
          checkJsonText(data, 'data', DEFAULTS.payloadLimitBytes)
        }
      },
      timeline({ limit, job }) {
        checkWhole(limit, 'limit', { least: 1, most: BOUNDS.pageLimit })
        if (job !== undefined) ids([job])
      },
    }),
    steps: checked(store.steps, STEP_CHECKS),
  }
}

/** Rejects like a store: it throws nothing, and awaits nothing before it calls the verb. */
function checked<Part extends object>(part: Part, checks: Checks<Part>): Part {
  const verbs = Object.entries(checks) as [keyof Part, (...args: unknown[]) => void][]
  const wrapped = verbs.map(([verb, check]) => {
    const call = part[verb] as (...args: unknown[]) => unknown
    const run = async (...args: unknown[]): Promise<unknown> => {
      check(...args)
      return call(...args)
    }
    return [verb, run]
  })
  return { ...part, ...Object.fromEntries(wrapped) } as Part
}

function finishIsValid({
  id,
  token,
  transition,
  outcome,
  ranMs,
  error,
  log,
  cool,
}: Parameters<FullStore['finish']>[0][number]): void {
  ids([id])
  checkWhole(token, 'token', COUNT)
  checkOneOf(transition.to, 'transition.to', TO)
  if (outcome !== null || (transition.to !== 'parked' && isEnded(transition.to)))
    checkOneOf(outcome, 'outcome', OUTCOMES)
  if (transition.to === 'scheduled') checkWhole(transition.delayMs, 'delayMs', DURATION)
  if (transition.to === 'done' && transition.result !== null)
    checkJsonText(transition.result, 'result', DEFAULTS.payloadLimitBytes)
  checkWhole(Math.round(ranMs ?? 0), 'ranMs', DURATION)
  for (const ms of Object.values(cool ?? {})) checkWhole(ms, 'cool', DURATION)
  if (error !== undefined) storable(error, 'error')
  if (log !== undefined) storable(log, 'log', DEFAULTS.logLimitChars)
}

function rooms({ instance, queues }: DirectDispatchOffer): void {
  ids([instance])
  for (const { room } of queues) checkWhole(room, 'room', BOUNDS.workers)
}

function storable(text: string, field: string, limit?: number): void {
  if (storableText(text, limit) === text) return
  throw new JobmillError('OPTION_INVALID', 'cannot be stored as it is', { field, fix: 'Use storableText' })
}

function byAndName(name: string, by: string | undefined): void {
  checkName(name, 'name')
  if (by !== undefined) checkKey(by, 'by')
}

function perPass(limit: number): void {
  checkWhole(limit, 'limit', PER_PASS)
}
